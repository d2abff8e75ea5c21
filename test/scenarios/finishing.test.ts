import { it } from "vitest";
import { expectStory } from "../helpers/expect-story.js";
import { type ScriptedAgent, ScriptedRun } from "../helpers/scripted-run.js";

function succeeds(agent: ScriptedAgent): void {
	for (const rank of [0, 1]) agent.exits(rank, 0);
}

it("a member that has finished may vanish without effect", async () => {
	const run = new ScriptedRun({ minNodes: 2, maxNodes: 2 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("all of node-b succeeds", () => succeeds(b));
	await run.pass(1_000);
	await run.act("node-b vanishes", () => b.vanish());
	await run.pass(10_000);
	await run.act("all of node-a succeeds", () => succeeds(a));
	await run.pass(1_000);
	await expectStory(run, "finished-member-vanishes");
});

it("a member that is told to stop when it has just finished goes once the store knows that", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 2 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("the store does not answer node-b any more", () =>
		b.store.cut(),
	);
	await run.act("all of node-b succeeds", () => succeeds(b));
	await run.pass(500);
	await run.act("node-b is told to stop", () => b.askToStop());
	await run.pass(1_000);
	await run.act("the store answers again", () => b.store.mend());
	await run.pass(10_000);
	await run.act("all of node-a succeeds", () => succeeds(a));
	await run.pass(1_000);
	await expectStory(run, "finished-member-told-to-stop");
});

it("a failure brings a finished member back, with fresh workers", async () => {
	const run = new ScriptedRun({ minNodes: 2, maxNodes: 2 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("all of node-b succeeds", () => succeeds(b));
	await run.pass(1_000);
	await run.act("node-a fails", () => {
		a.exits(0, 1);
		a.obeys();
	});
	await run.pass(1_000);
	await run.act("all succeed", () => {
		succeeds(a);
		succeeds(b);
	});
	await run.pass(1_000);
	await expectStory(run, "finished-member-comes-back");
});
