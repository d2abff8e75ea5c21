import { it } from "vitest";
import { expectStory } from "../helpers/expect-story.js";
import { ScriptedRun } from "../helpers/scripted-run.js";

it("the first round waits for the last call, and MAX ends it early", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 3 });
	await run.agent("node-a");
	await run.pass(10_000);
	await run.agent("node-b");
	await run.pass(5_000);
	await run.agent("node-c");
	await run.pass(1_000);
	await expectStory(run, "forming-last-call");
});

it("J21: below MIN each agent says every 10 s who is there, and the run ends at the join time-out", async () => {
	const run = new ScriptedRun({
		minNodes: 3,
		maxNodes: 4,
		joinTimeoutMs: 60_000,
	});
	await run.agent("node-a");
	await run.pass(15_000);
	await run.agent("node-b");
	await run.pass(45_000);
	await run.pass(1_000);
	await expectStory(run, "forming-below-min");
});

it("who finds no seat waits as a spare, takes the place of one that vanishes, and ends with the run", async () => {
	const run = new ScriptedRun({ minNodes: 2, maxNodes: 2 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	const spare = await run.agent("node-c");
	await run.agent("node-d");
	await run.pass(60_000);
	await run.act("node-a vanishes", () => a.vanish());
	await run.pass(500);
	await run.act("the workers of node-b obey SIGTERM", () => b.obeys());
	await run.pass(1_000);
	await run.act("all workers of node-b and node-c succeed", () => {
		for (const rank of [0, 1]) {
			b.exits(rank, 0);
			spare.exits(rank, 0);
		}
	});
	await run.pass(1_000);
	await expectStory(run, "forming-spare");
});

it("newcomers are gathered while the round runs on, and it is left once for all of them", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 4 });
	const a = await run.agent("node-a");
	await run.pass(31_000);
	await run.agent("node-b");
	await run.pass(20_000);
	await run.agent("node-c");
	await run.pass(11_000);
	await run.act("the workers of node-a obey SIGTERM", () => a.obeys());
	await run.pass(1_000);
	await expectStory(run, "forming-scale-up");
});
