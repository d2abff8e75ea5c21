import { describe, it } from "vitest";
import {
	HardRestartPolicyStrategy,
	SoftReplaceRestartPolicyStrategy,
	SoftRestartPolicyStrategy,
} from "../../src/policies/built-in.js";
import { expectStory } from "../helpers/expect-story.js";
import { type ScriptedAgent, ScriptedRun } from "../helpers/scripted-run.js";

const ROWS = [
	new HardRestartPolicyStrategy(),
	new SoftRestartPolicyStrategy(),
	new SoftReplaceRestartPolicyStrategy(),
];

describe.each(ROWS)("T4 the policy $name", (policy) => {
	/** What every worker does that works as it should. */
	async function goOn(run: ScriptedRun, ...agents: readonly ScriptedAgent[]) {
		await run.act("workers obey SIGTERM, and acknowledge PAUSE", () => {
			for (const agent of agents) agent.obeys();
			for (const agent of agents) agent.acknowledges();
		});
		await run.pass(1_000);
	}

	it("T7 when nodes come", async () => {
		const lastCallTimeoutMs = 1_000;
		const run = new ScriptedRun({ maxNodes: 2, policy, lastCallTimeoutMs });
		const a = await run.agent("node-a");
		await run.pass(1_000);
		const b = await run.agent("node-b");
		await goOn(run, a, b);
		await expectStory(run, `table-${policy.name}-scale-up`);
	});

	it("T5 when a node goes", async () => {
		const run = new ScriptedRun({ maxNodes: 2, policy });
		const a = await run.agent("node-a");
		const b = await run.agent("node-b");
		await run.formed();
		await run.act("node-b's agent is killed", () => b.killed());
		await run.pass(6_000);
		await goOn(run, a);
		await expectStory(run, `table-${policy.name}-scale-down`);
	});

	it("T10 T11 when a worker fails", async () => {
		const run = new ScriptedRun({ maxNodes: 2, policy });
		const a = await run.agent("node-a");
		const b = await run.agent("node-b");
		await run.formed();
		await run.act("a worker of node-b fails", () => b.exits(1, 9));
		await goOn(run, a, b);
		await expectStory(run, `table-${policy.name}-failure`);
	});
});
