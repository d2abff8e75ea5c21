import { expect, it } from "vitest";
import type { RestartPolicyStrategy } from "../../src/policies/strategy.js";
import { RunKeys } from "../../src/rendezvous/records/keys.js";
import { decides } from "../helpers/decides.js";
import { expectStory } from "../helpers/expect-story.js";
import {
	ScriptedRun,
	type ScriptedRunOptions,
} from "../helpers/scripted-run.js";

/** Restarts as the hard policy does, but each node pays for its own failures. */
const NODE_PAYS: RestartPolicyStrategy = {
	name: "node-pays",
	onScaleUp: decides("restart"),
	onScaleDown: decides("restart"),
	onWorkerFailure: decides("restart", "node"),
};

/** Of two nodes node-b has used up its own budget. */
async function spendBudgetOfB(settings: ScriptedRunOptions = {}) {
	const run = new ScriptedRun({
		...{ minNodes: 1, maxNodes: 2, maxRestarts: 0 },
		policy: NODE_PAYS,
		...settings,
	});
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("a worker of node-b fails", () => b.exits(0, 1));
	await run.act("the other workers obey SIGTERM", () => {
		a.obeys();
		b.obeys();
	});
	await run.pass(1_000);
	return { run, a, b };
}

it("a node whose own budget is spent is refused, and the others go on", async () => {
	const { run, b } = await spendBudgetOfB();
	await expectStory(run, "node-budget-spent");
	expect(b.ending).toMatchObject({ outcome: "left", exitCode: 75 });
});

it("a node whose own budget was spent is let in again when that is forgotten, and not before", async () => {
	const { run, a } = await spendBudgetOfB({ lastCallTimeoutMs: 1_000 });
	const again = await run.agent("node-b", { incarnation: "node-b-2" });
	await run.pass(1_000);
	expect(again.ending).toMatchObject({ outcome: "left", exitCode: 75 });
	await run.act(
		"somebody who has mended it deletes what is held against it",
		async () => {
			const keys = new RunKeys("scripted");
			const held = [keys.budget("node-b"), keys.replacedNode("node-b")];
			const deletions = held.map((key) => ({ delete: key }));
			await run.store.transaction([], deletions);
		},
	);
	await run.agent("node-b", { incarnation: "node-b-3" });
	await run.pass(2_000);
	await run.act("the workers of node-a obey SIGTERM", () => a.obeys());
	await run.pass(1_000);
	await expectStory(run, "node-budget-forgotten");
});

it("failures of several nodes before the next round are one incident", async () => {
	const run = new ScriptedRun({ minNodes: 3, maxNodes: 3, maxRestarts: 1 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	const c = await run.agent("node-c");
	await run.formed();
	await run.act("workers of node-b and node-c fail together", () => {
		b.exits(0, 1);
		c.exits(1, 1);
	});
	await run.act("a worker of node-a fails of it while it is stopped", () => {
		a.exits(0, 134);
	});
	await run.act("the other workers obey SIGTERM", () => {
		for (const agent of [a, b, c]) agent.obeys();
	});
	await run.pass(1_000);
	await expectStory(run, "one-incident");
	expect(a.ending).toBeUndefined();
});
