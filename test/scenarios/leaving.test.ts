import { it } from "vitest";
import { expectStory } from "../helpers/expect-story.js";
import { ScriptedRun } from "../helpers/scripted-run.js";

it("one agent is asked to leave: the others go on at once, and nothing is charged", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 2, maxRestarts: 0 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("node-a gets SIGTERM", () => a.askToStop());
	await run.pass(500);
	await run.act("all workers obey SIGTERM", () => {
		a.obeys();
		b.obeys();
	});
	await run.pass(1_000);
	await expectStory(run, "leaving");
});

it("a member whose process cannot be killed does not hold up the others", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 2 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("node-a fails, and its other worker cannot be killed", () =>
		a.exits(0, 1),
	);
	await run.act("the workers of node-b obey SIGTERM", () => b.obeys());
	await run.pass(30_000);
	await run.pass(5_000);
	await run.pass(1_000);
	await expectStory(run, "unkillable-member");
});
