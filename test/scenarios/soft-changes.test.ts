import { it } from "vitest";
import {
	SoftReplaceRestartPolicyStrategy,
	SoftRestartPolicyStrategy,
} from "../../src/policies/built-in.js";
import type { RestartPolicyStrategy } from "../../src/policies/strategy.js";
import { decides } from "../helpers/decides.js";
import { expectStory } from "../helpers/expect-story.js";
import { type ScriptedAgent, ScriptedRun } from "../helpers/scripted-run.js";

const SOFT = new SoftRestartPolicyStrategy();

/** What a user may write: scale events pause, a worker's failure restarts them all and is the run's. */
const MIXED: RestartPolicyStrategy = {
	name: "mixed",
	onScaleUp: decides("pause"),
	onScaleDown: decides("restart"),
	onWorkerFailure: decides("restart", "run"),
};

async function threeNodes(policy: RestartPolicyStrategy = SOFT, maxNodes = 3) {
	const run = new ScriptedRun({ maxNodes, policy, lastCallTimeoutMs: 1_000 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	const c = await run.agent("node-c");
	await run.pass(2_000);
	return { run, a, b, c };
}

/** What every worker does that works as it should. */
async function goOn(run: ScriptedRun, ...agents: readonly ScriptedAgent[]) {
	await run.act("workers obey SIGTERM, and acknowledge PAUSE", () => {
		for (const agent of agents) agent.obeys();
		for (const agent of agents) agent.acknowledges();
	});
	await run.pass(1_000);
}

it("T8 a node that vanishes while others are paused: the round that follows is one, and nobody is paused twice", async () => {
	const { run, a, b, c } = await threeNodes();
	await run.act("a worker of node-c fails", () => c.exits(0, 1));
	await run.act("node-b vanishes", () => b.vanish());
	await goOn(run, a, c);
	await run.showCharges();
	await expectStory(run, "soft-vanishes-while-paused");
});

it("a failure right after a round has begun, and one more while it is left: one further round for both", async () => {
	const { run, a, b, c } = await threeNodes(SOFT, 4);
	await run.agent("node-d");
	await run.act("before a PAUSE is acknowledged, workers fail", () => {
		b.exits(0, 1);
		c.exits(1, 2);
	});
	await goOn(run, a, b, c);
	await run.showCharges();
	await expectStory(run, "soft-second-change");
});

it("T7 nodes that come together make one round", async () => {
	const { run, a, b, c } = await threeNodes(SOFT, 6);
	const late = [
		await run.agent("node-d"),
		await run.agent("node-e"),
		await run.agent("node-f"),
	];
	await goOn(run, a, b, c, ...late);
	await expectStory(run, "soft-three-join");
});

it("T14 a PAUSE that follows does not put off the deadline of one that was not acknowledged", async () => {
	const { run, a, b, c } = await threeNodes(SOFT, 5);
	const d = await run.agent("node-d");
	await run.pass(1_000);
	await run.act("all but rank 0 acknowledge", () => {
		a.acknowledges(1);
		for (const agent of [b, c, d]) agent.acknowledges();
	});
	await run.pass(40_000);
	const e = await run.agent("node-e");
	await run.act("all but rank 0 acknowledge", () => {
		a.acknowledges(1);
		for (const agent of [b, c, d, e]) agent.acknowledges();
	});
	await run.pass(20_000);
	await expectStory(run, "soft-two-pauses");
});

it("T12 a policy that pauses for scale-up only: the same workers go on when nodes come, fresh ones when one goes", async () => {
	const { run, a, b, c } = await threeNodes(MIXED, 4);
	const d = await run.agent("node-d");
	await goOn(run, a, b, c, d);
	await run.act("node-d leaves", () => d.askToStop());
	await goOn(run, a, b, c, d);
	await run.showCharges();
	await expectStory(run, "soft-mixed-policy");
});

it("T11 the worker's own budget: spent, its node leaves with 75, and the others go on", async () => {
	const policy = new SoftReplaceRestartPolicyStrategy();
	const run = new ScriptedRun({ maxNodes: 2, maxRestarts: 1, policy });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	for (const [before, localRank] of [0, 1, 1].entries()) {
		await run.act(`local rank ${localRank} of node-b fails`, () => {
			b.exits(localRank, 1);
			b.waitsForWork(1 - localRank, before + 1);
		});
		await goOn(run, a, b);
	}
	await run.showCharges();
	await expectStory(run, "soft-replace-budget-spent");
});
