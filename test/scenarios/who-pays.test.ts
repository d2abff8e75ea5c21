import { expect, it } from "vitest";
import {
	HardRestartPolicyStrategy,
	SoftReplaceRestartPolicyStrategy,
} from "../../src/policies/built-in.js";
import { expectStory } from "../helpers/expect-story.js";
import { ScriptedRun } from "../helpers/scripted-run.js";

// A charge ends the run, or the node, here: there is no budget.
const POLICIES = [
	new HardRestartPolicyStrategy(),
	new SoftReplaceRestartPolicyStrategy(),
];

async function threeNodes(policy: (typeof POLICIES)[number]) {
	const run = new ScriptedRun({ maxNodes: 3, maxRestarts: 0, policy });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	const c = await run.agent("node-c");
	await run.formed();
	const goOn = () =>
		run.act("workers obey SIGTERM, and acknowledge PAUSE", () => {
			for (const agent of [a, b, c]) agent.obeys();
			for (const agent of [a, b, c]) agent.acknowledges();
		});
	return { run, a, b, c, goOn };
}

it.each(
	POLICIES,
)("T8 a machine is lost, and its peers' workers fail before its lease is over: nobody pays, under $name", async (policy) => {
	const { run, a, b, c, goOn } = await threeNodes(policy);
	await run.act("node-c is killed", () => c.killed());
	await run.act("a worker of each other node loses a connection", () => {
		a.exits(0, 1);
		b.exits(1, 1);
	});
	await goOn();
	await run.pass(6_000);
	await run.showCharges();
	await expectStory(run, `bereaved-${policy.name}`);
	expect([a.ending, b.ending]).toEqual([undefined, undefined]);
});

it.each(
	POLICIES,
)("T8 a node is told to leave, and workers of the others fail while they stop or are paused: nobody pays, under $name", async (policy) => {
	const { run, a, b, c, goOn } = await threeNodes(policy);
	await run.act("node-c leaves; its workers end", () => {
		c.askToStop();
		c.obeys();
	});
	await run.act("a worker of node-a aborts", () => a.exits(0, 134));
	await goOn();
	await run.pass(1_000);
	await run.showCharges();
	await expectStory(run, `preempted-${policy.name}`);
	expect([a.ending, b.ending]).toEqual([undefined, undefined]);
});

it.each(
	POLICIES,
)("a worker fails and all are there again: its budget is spent, and that is the end, under $name", async (policy) => {
	const { run, b, goOn } = await threeNodes(policy);
	await run.act("a worker of node-b fails", () => b.exits(0, 1));
	await goOn();
	await run.pass(40_000);
	await run.showCharges();
	await expectStory(run, `pays-${policy.name}`);
	expect(b.ending?.exitCode).toBe(policy.name === "hard" ? 1 : 75);
});
