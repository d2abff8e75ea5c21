import { it } from "vitest";
import { expectStory } from "../helpers/expect-story.js";
import { ScriptedRun } from "../helpers/scripted-run.js";

it("the coordinator vanishes: the next in rank order plans, and rank 0 moves on", async () => {
	const run = new ScriptedRun({ minNodes: 2, maxNodes: 3 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	const c = await run.agent("node-c");
	await run.formed();
	await run.act("node-a, which coordinates, vanishes", () => a.vanish());
	await run.pass(500);
	await run.act("the workers of the others obey SIGTERM", () => {
		b.obeys();
		c.obeys();
	});
	await run.pass(1_000);
	await expectStory(run, "coordinator-vanishes");
});
