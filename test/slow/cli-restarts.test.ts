// Rules, budgets and delays of restarts on one node.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSite } from "../helpers/launch.js";

const BAD_DATA = ["sh", "-c", "echo bad data 17 >&2; exit 3"];

it.each([
	["fail-run", 1, /ended: rank 0 on \S+ exit code 3, which ends the run/],
	["replace-node", 75, /restarts: 0 of 3 used/],
	["stop-node", 1, /restarts: 0 of 3 used/],
] as const)("J12 --rule '… => %s' ends with %d at the first failure, and the report names the rule", async (action, code, words) => {
	const rule = `error=/bad, or BAD data/,exit=3 => restart\nerror=/BAD DATA/i => ${action}`;
	const { exitCode, stderr } = await openSite().launch([
		...["--rule", "exit=7 => restart", "--rule", rule, ...BAD_DATA],
	]).ended;
	expect(exitCode).toBe(code);
	expect(stderr).toMatch(words);
	expect(stderr).toContain(
		`decided by rule 3 (error=/BAD DATA/i => ${action})`,
	);
	expect(stderr).not.toContain("round 2: ");
});

it("J12 a pattern that would backtrack for hours does not hold up the run", async () => {
	const rule = "error=/^(a+)+$/m => fail-run";
	const words = ["sh", "-c", `echo ${"a".repeat(60)}! >&2; exit 3`];
	const { exitCode, stderr } = await openSite().launch([
		...["--max-restarts", "1", "--rule", rule, ...words],
	]).ended;
	expect(exitCode).toBe(1);
	expect(stderr).toContain("restarts: 1 of 1 used");
});

it("J12 restart-uncounted: a failure costs no restart", async () => {
	const once = "test -e marker || { touch marker; exit 3; }";
	const args = ["--max-restarts", "0", "--rule", "exit=3 => restart-uncounted"];
	const launch = openSite().launch([...args, "sh", "-c", once]);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(0);
	expect(stderr).toContain("2 rounds, 1 restart,");
});

it("J11 rules of a config file, and the flag that beats them", async () => {
	const site = openSite();
	writeFileSync(
		join(site.path, "run.yaml"),
		'rules:\n  - exit=3,4 => fail-run\n  - "* => replace-node"\n',
	);
	const run = (...flags: string[]) =>
		site.launch(["--config", "run.yaml", ...flags, ...BAD_DATA]).ended;
	expect((await run()).stderr).toContain("rule 1 (exit=3,4 => fail-run)");
	const { stderr } = await run("--rule", "* => stop-node");
	expect(stderr).toContain("rule 1 (* => stop-node)");
});

it("D2 a run whose restarts get no further ends before its budget, and quotes each failure", async () => {
	const site = openSite();
	// Rank 1 fails at step 5, each time with other numbers in its message.
	writeFileSync(
		join(site.path, "train.js"),
		`for (let step = 1; step <= 5; step += 1) console.log("step", step);
if (process.env.RANK === "1") throw new RangeError("bad batch " + process.pid);
setInterval(() => {}, 1000);
`,
	);
	const { exitCode, stderr } = await site.launch([
		...["--nproc-per-node", "2", "--max-restarts", "100", "train.js"],
	]).ended;
	expect(exitCode).toBe(1);
	expect(stderr).toMatch(
		/ended: rank 1 on \S+ RangeError: bad batch \d+, at train\.js:2; no restart got beyond step 5: 3 failures in a row/,
	);
	const quoted = stderr.match(
		/^ {2}round \d, step 5: rank 1 on .*RangeError: bad batch \d+, at train\.js:2$/gm,
	);
	expect(quoted).toHaveLength(3);
	expect(stderr).toContain("restarts: 2 of 100 used");
});

it.each([
	["train.mjs", 'import "nosuch-package";', "Cannot find package"],
	["train.mjs", "const = 3;", "SyntaxError: Unexpected token"],
	["train.py", "import nosuch", "No module named 'nosuch'"],
	[
		"train.py",
		"import argparse\nargparse.ArgumentParser().parse_args()",
		"error: unrecognized arguments: --foo",
	],
])("C5 a program that cannot succeed is started once: %s, %s", async (name, text, words) => {
	const site = openSite();
	writeFileSync(join(site.path, name), text);
	const { exitCode, stderr } = await site.launch([
		...["--nproc-per-node", "2", "--restart-delay", "0", name, "--foo"],
	]).ended;
	expect(exitCode).toBe(1);
	expect(stderr).toContain(words);
	expect(stderr).toMatch(/^ended: .*; nothing was started again: /m);
	expect(stderr).toContain("restarts: 0 of 3 used");
	expect(stderr).not.toContain("RUNNING round 2:");
});

it.each([
	["a worker that is killed each time", [], "kill -KILL $$"],
	["no limit", ["--max-identical-failures", "0"], "exit 1"],
])("D2 the whole budget is spent by %s", async (_, flags, script) => {
	const args = ["--restart-delay", "0", ...flags, "sh", "-c", script];
	const { stderr } = await openSite().launch(args).ended;
	expect(stderr).toContain("the budget of 3 restarts is spent");
});

it("a restart in vain is held back: said in the log, and a stop ends it at once", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--max-identical-failures", "0", "--restart-delay", "10m"],
		...["sh", "-c", "exit 3"],
	]);
	// Round 2 begins at once.
	await launch.saw("stderr", "RUNNING round 2:");
	await launch.saw("stderr", "waiting before the restart");
	launch.signal("SIGTERM");
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stderr).not.toContain("RUNNING round 3:");
	await site.isSwept();
});

it("D2 restarts of one node, role and time are limited, and the report says what is left", async () => {
	const { exitCode, stderr } = await openSite().launch([
		...["--max-role-restarts", "0/1h", "--max-restarts", "5/6h"],
		...["--role", "trainer", "sh", "-c", "exit 3"],
	]).ended;
	expect(exitCode).toBe(1);
	expect(stderr).toContain(
		"the budget of 0 restarts in 1h of the role trainer is spent",
	);
	expect(stderr).toContain("restarts: 0 used, 4 of 5 in 6 h 0 min left");
});

it("T12 a policy ignores a failure: the others go on, and the run succeeds with what they have done", async () => {
	const site = openSite();
	const policy = join(site.path, "ignores.mjs");
	writeFileSync(policy, IGNORES);
	const fails =
		'test "$RANK" = 1 && exit 3; until test -e go; do sleep 0.1; done';
	const launch = site.launch([
		...["--nproc-per-node", "3", "--restart-policy", policy],
		...["sh", "-c", `${fails}; echo rank $RANK is done`],
	]);
	await launch.saw("stderr", "rank 1 failed: exit code 3; the others go on");
	writeFileSync(join(site.path, "go"), "");
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	expect(stdout.match(/rank \d is done/g)?.sort()).toEqual([
		"rank 0 is done",
		"rank 2 is done",
	]);
	expect(stderr).toContain("2 of 3 workers of this node succeeded");
	expect(stderr).not.toContain("round 2: ");
});

const IGNORES = `
const decide = (workers) => ({ workers, charge: "nothing", reason: "two are enough" });
export default {
	name: "ignores",
	onScaleUp: () => decide("restart"),
	onScaleDown: () => decide("restart"),
	onWorkerFailure: () => decide("ignore"),
};
`;
