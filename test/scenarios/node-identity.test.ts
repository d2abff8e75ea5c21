import { it } from "vitest";
import { expectStory } from "../helpers/expect-story.js";
import { ScriptedRun } from "../helpers/scripted-run.js";

it("a new process takes over at once from a dead one of its node: one new round in all", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 2, maxRestarts: 0 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("the process of node-b is killed, its lease lives on", () =>
		b.killed(),
	);
	await run.pass(500);
	await run.agent("node-b", { incarnation: "node-b-2", holderIsDead: true });
	await run.act("the workers of node-a obey SIGTERM", () => a.obeys());
	await run.pass(5_000);
	await expectStory(run, "node-id-of-a-dead-process");
});

it("a node id that a living process holds is waited for, then refused with the holder's name", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 2 });
	await run.agent("node-a");
	await run.pass(1_000);
	await run.agent("node-a", { incarnation: "node-a-2" });
	await run.pass(6_500);
	await expectStory(run, "node-id-taken");
});
