import { expect, it } from "vitest";
import { explain } from "../../../bin/commands/explain-rules.js";
import { parseFacts, parseRules } from "../../../src/config/parse/rules.js";
import { HardRestartPolicyStrategy } from "../../../src/policies/built-in.js";

/** What follows this exit, with exit codes that the user has chosen. */
function outcomeOf(
	exit: number,
	isPropagated: boolean,
	change: Partial<Parameters<typeof explain>[0]> = {},
): string {
	const rules = parseRules("exit=3 => fail-run\nexit=4 => replace-node");
	const facts = parseFacts(`exit=${exit}`);
	if ("problems" in rules || "problems" in facts) throw new Error("a slip");
	const config = {
		...{ policy: new HardRestartPolicyStrategy(), rules: rules.value },
		...{ maxRestarts: 3, runId: "run" },
		exitCodes: { replaceNode: 99, restart: 76, isPropagated },
		...{ isRecreated: false, failoverScope: "run" as const },
		...change,
	};
	return explain(config, facts.value).outcome;
}

it("J18 validate --explain names the exit codes that the flags have chosen", () => {
	expect(outcomeOf(4, false)).toBe(
		"this node leaves the run, which continues elsewhere (exit code 99)",
	);
	expect(outcomeOf(3, false)).toBe("the run fails with exit code 1");
	expect(outcomeOf(3, true)).toBe("the run fails with exit code 3");
});

it.each<[string, Partial<Parameters<typeof explain>[0]>, string]>([
	[
		"nothing else",
		{},
		"all workers of this node are restarted in a next round",
	],
	[
		"--restart-strategy recreate",
		{ isRecreated: true },
		"all workers of this node are ended, and its launcher exits with code 76, to be started again",
	],
	[
		"--failover-scope role",
		{ failoverScope: "role" },
		"all workers of this node are restarted in a next round; other roles run on",
	],
])("J12 validate --explain says what follows with %s", (_, change, words) => {
	expect(outcomeOf(1, false, change)).toBe(words);
	expect(outcomeOf(3, false, change)).toBe("the run fails with exit code 1");
});
