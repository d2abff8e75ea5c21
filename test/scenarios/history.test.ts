import { it } from "vitest";
import { expectStory } from "../helpers/expect-story.js";
import { type ScriptedAgent, ScriptedRun } from "../helpers/scripted-run.js";

function succeeds(agent: ScriptedAgent): void {
	for (const rank of [0, 1]) agent.exits(rank, 0);
}

it("the history tells each round's cause, members and phases, over a change of the coordinator", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 3 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.pass(31_000);
	await run.act("a worker of node-b fails", () => b.exits(0, 1));
	await run.pass(200);
	await run.act("its others end", () => b.obeys());
	await run.pass(300);
	await run.act("the workers of node-a end", () => a.obeys());
	await run.pass(5_000);
	const c = await run.agent("node-c");
	await run.pass(100);
	await run.act("the workers of both end", () => {
		a.obeys();
		b.obeys();
	});
	await run.pass(5_000);
	await run.act("node-a, which coordinates, vanishes", () => a.vanish());
	await run.pass(500);
	await run.act("the workers of the others end", () => {
		b.obeys();
		c.obeys();
	});
	await run.pass(5_000);
	await run.act("all succeed", () => {
		succeeds(b);
		succeeds(c);
	});
	await run.pass(1_000);
	await run.showHistory();
	await expectStory(run, "history");
});

it("a later start of the run goes on with its history", async () => {
	const run = new ScriptedRun({ maxRestarts: 0 });
	const first = await run.agent("node-a");
	await run.act("it fails", () => {
		first.exits(0, 1);
		first.obeys();
	});
	await run.pass(1_000);
	const second = await run.agent("node-a", { incarnation: "node-a-2" });
	await run.pass(1_000);
	await run.act("it succeeds", () => succeeds(second));
	await run.pass(1_000);
	await run.showHistory();
	await expectStory(run, "history-of-two-starts");
});

it("J21: every agent that waits is told for whom; a spare of a round that runs is not", async () => {
	const run = new ScriptedRun({
		minNodes: 2,
		maxNodes: 2,
		settleTimeoutMs: 30_000,
	});
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.agent("node-c");
	await run.pass(15_000);
	await run.act("node-b fails; the workers of node-a take their time", () => {
		b.exits(0, 1);
		b.obeys();
	});
	await run.pass(21_000);
	await run.act("they are gone", () => a.obeys());
	await run.pass(15_000);
	await expectStory(run, "waiting-lines");
});
