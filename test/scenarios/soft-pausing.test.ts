import { it } from "vitest";
import {
	SoftReplaceRestartPolicyStrategy,
	SoftRestartPolicyStrategy,
} from "../../src/policies/built-in.js";
import type { RestartPolicyStrategy } from "../../src/policies/strategy.js";
import { expectStory } from "../helpers/expect-story.js";
import { ScriptedRun } from "../helpers/scripted-run.js";

const SOFT = new SoftRestartPolicyStrategy();
const REPLACE = new SoftReplaceRestartPolicyStrategy();

/** Three nodes. All workers listen, unless the local ranks are given that do. */
async function threeNodes(
	policy: RestartPolicyStrategy,
	listens: {
		readonly a?: readonly number[];
		readonly c?: readonly number[];
	} = {},
) {
	const run = new ScriptedRun({ maxNodes: 3, policy });
	const a = await run.agent("node-a", { listens: listens.a ?? true });
	const b = await run.agent("node-b");
	const c = await run.agent("node-c", { listens: listens.c ?? true });
	await run.formed();
	return { run, a, b, c };
}

it("T14 a worker that never called the runtime library is started again, and the warning is not said twice", async () => {
	const { run, a, b, c } = await threeNodes(SOFT, { a: [1] });
	await run.act("node-c leaves", () => c.askToStop());
	await run.act("its workers end, and so does the deaf one", () => {
		c.obeys();
		a.obeys();
	});
	for (const agent of [a, b]) agent.acknowledges();
	await run.pass(3_000);
	await run.act("node-b leaves", () => b.askToStop());
	await run.act("its workers end, and so does the deaf one", () => {
		b.obeys();
		a.obeys();
	});
	await run.pass(3_000);
	await expectStory(run, "soft-deaf-worker");
});

it("T14 a PAUSE that is not acknowledged in time: of one that did before, a failure; of one that never did, a fresh start in the same round", async () => {
	const { run, a, b, c } = await threeNodes(SOFT);
	await run.act("node-c leaves", () => c.askToStop());
	await run.act("its workers end; local rank 1 of node-a says nothing", () => {
		c.obeys();
		a.acknowledges(0);
		b.acknowledges();
	});
	await run.pass(60_000);
	await run.act("local rank 1 of node-a ends", () => a.obeys());
	for (const agent of [a, b]) agent.acknowledges();
	await run.pass(1_000);
	const d = await run.agent("node-d");
	await run.act("local rank 1 of node-b says nothing any more", () => {
		b.acknowledges(0);
		for (const agent of [a, d]) agent.acknowledges();
	});
	await run.pass(60_000);
	await run.act("the workers of node-b end", () => b.obeys());
	for (const agent of [a, d]) agent.acknowledges();
	await run.pass(1_000);
	await run.showCharges();
	await expectStory(run, "soft-not-acknowledged");
});

it("who waits for its own paused workers is waited for beyond the settle time: nobody goes on without it, to be paused again when it comes back", async () => {
	const { run, a, b, c } = await threeNodes(SOFT);
	await run.act("node-c leaves; its workers end", () => {
		c.askToStop();
		c.obeys();
	});
	const acknowledge = (...agents: readonly (typeof a)[]) => {
		for (const agent of agents) agent.acknowledges();
	};
	await run.act("all have heard", () => acknowledge(a, b));
	await run.act("rank 0 saves and ends when round 2 runs", () => a.exits(0, 0));
	await run.act("all have heard", () => acknowledge(a, b));
	await run.pass(1_000);
	const d = await run.agent("node-d");
	await run.act("all have heard, none waits for work", () => {
		for (const agent of [a, b]) agent.acknowledges();
	});
	await run.pass(60_000);
	await run.act("rank 0 ends", () => a.obeys());
	for (const agent of [a, b, d]) agent.acknowledges();
	await run.pass(1_000);
	await expectStory(run, "soft-awaited-longer");
});

it.each([
	SOFT,
	REPLACE,
])("T16 a worker dies while it is paused and others are waited for, under $name", async (policy) => {
	const { run, a, b, c } = await threeNodes(policy, { c: [0] });
	await run.act("a worker of node-c fails, the other one is deaf", () =>
		c.exits(0, 1),
	);
	await run.act("a paused worker of node-a aborts", () => a.exits(1, 134));
	await run.act("all acknowledge or end", () => {
		for (const agent of [a, b, c]) agent.obeys();
		for (const agent of [a, b, c]) agent.acknowledges();
	});
	await run.pass(1_000);
	await run.showCharges();
	await expectStory(run, `soft-dies-while-paused-${policy.name}`);
});

it("a worker that ends with 0 while it is paused is started again, and costs nothing", async () => {
	const { run, a, b, c } = await threeNodes(SOFT);
	await run.act("a worker of node-c fails", () => c.exits(0, 1));
	await run.act("a paused worker of node-a has done its part", () =>
		a.exits(0, 0),
	);
	await run.act("all acknowledge or end", () => {
		for (const agent of [a, b, c]) agent.obeys();
		for (const agent of [a, b, c]) agent.acknowledges();
	});
	await run.pass(1_000);
	await run.showCharges();
	await expectStory(run, "soft-succeeds-while-paused");
});

it("T16 a survivor that dies before it has left the round costs nothing, nor does one that dies of that; again in the same place, it pays", async () => {
	const { run, a, b, c } = await threeNodes(SOFT);
	const end = (...agents: readonly (typeof a)[]) => {
		for (const agent of agents) agent.obeys();
		for (const agent of [a, b, c]) agent.acknowledges();
	};
	await run.act("a worker of node-c fails", () => c.exits(0, 1));
	await run.act("its others end; listeners acknowledge PAUSE", () => end(c));
	await run.act("and WORK", () => end());
	await run.act("rank 0 aborts in what it has not left", () => a.exits(0, 134));
	await run.act("the others of its node end", () => end(a));
	await run.act("rank 4 aborts before it has heard of round 3", () =>
		c.exits(0, 134),
	);
	await run.act("the others of its node end", () => end(c));
	await run.act("rank 0 aborts before it has heard of round 4", () =>
		a.exits(0, 134),
	);
	await run.act("the others of its node end", () => end(a));
	await run.showCharges();
	await run.pass(40_000);
	await run.act("rank 2 aborts, which has not waited for work", () =>
		b.exits(0, 134),
	);
	await run.act("the others of its node end", () => end(b));
	await run.showCharges();
	await expectStory(run, "soft-dies-late");
});

it("T14 workers that save at PAUSE and end with 0, each later than its listener has heard of WORK: none has done its part, and each place costs one round", async () => {
	const { run, a, b, c } = await threeNodes(REPLACE);
	const hear = () => {
		for (const agent of [a, b]) agent.acknowledges();
	};
	await run.act("node-c leaves; its workers end", () => {
		c.askToStop();
		c.obeys();
	});
	for (const agent of [a, b]) {
		await run.act("all have heard of PAUSE", hear);
		await run.act("and of WORK", hear);
		await run.act("one has saved, and ends", () => agent.exits(0, 0));
	}
	await run.act("all have heard of PAUSE", hear);
	await run.act("rank 0 has saved, and ends", () => a.exits(0, 0));
	await run.pass(1_000);
	await run.showCharges();
	await expectStory(run, "soft-saves-late");
});

it("a worker that waits for another round asks for one: an incident that ends nobody", async () => {
	const { run, a, b, c } = await threeNodes(SOFT);
	await run.act("rank 3 has lost a peer, and waits", () =>
		b.waitsForWork(1, 1),
	);
	await run.pass(2_000);
	await run.act("all acknowledge PAUSE and WORK", () => {
		for (const agent of [a, b, c]) agent.acknowledges();
	});
	await run.pass(10_000);
	await run.showCharges();
	await expectStory(run, "soft-wish");
});

it("T8 a worker that waits because a node was killed, whose lease lives on: costs nothing, and the round says who left", async () => {
	const { run, a, b, c } = await threeNodes(SOFT);
	await run.act("node-c is killed; rank 3 has lost a peer, and waits", () => {
		c.killed();
		b.waitsForWork(1, 1);
	});
	await run.pass(2_000);
	await run.act("those that are left acknowledge PAUSE", () => {
		for (const agent of [a, b]) agent.acknowledges();
	});
	await run.pass(10_000);
	await run.act("they acknowledge WORK", () => {
		for (const agent of [a, b]) agent.acknowledges();
	});
	await run.pass(10_000);
	await run.showCharges();
	await expectStory(run, "soft-wish-of-the-bereaved");
});
