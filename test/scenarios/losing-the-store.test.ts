import { it } from "vitest";
import { expectStory } from "../helpers/expect-story.js";
import { ScriptedRun } from "../helpers/scripted-run.js";

it("a store that is out of reach for less than the lease lives is ridden through", async () => {
	const run = new ScriptedRun({ minNodes: 2, maxNodes: 2 });
	const a = await run.agent("node-a");
	await run.agent("node-b");
	await run.formed();
	await run.act("node-a is cut off for 3.5 s", () => a.store.cut());
	await run.pass(3_500);
	await run.act("it is back", () => a.store.mend());
	await run.pass(10_000);
	await expectStory(run, "store-short-cut");
});

it("an agent that is cut off ends its workers before its lease does, and returns to its place", async () => {
	const run = new ScriptedRun({ minNodes: 2, maxNodes: 2 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("node-a is cut off; its workers ignore SIGTERM", () =>
		a.store.cut(),
	);
	await run.pass(4_800);
	await run.act("the killed ones are gone", () => a.obeys());
	await run.pass(1_000);
	await run.act("the workers of node-b obey SIGTERM", () => b.obeys());
	await run.pass(2_000);
	await run.act("the way to the store is mended", () => a.store.mend());
	await run.pass(5_000);
	await expectStory(run, "store-long-cut");
});

it("nobody reaches the store for long: all members are waited for", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 2 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("the store is down", () => {
		a.store.cut();
		b.store.cut();
	});
	await run.pass(4_100);
	await run.act("all workers obey SIGTERM", () => {
		a.obeys();
		b.obeys();
	});
	await run.pass(10_000);
	await run.act("node-b reaches it again", () => b.store.mend());
	await run.pass(5_000);
	await run.act("node-a reaches it again", () => a.store.mend());
	await run.pass(5_000);
	await expectStory(run, "store-down");
});

it("the store stays out of reach for the join time-out: the agent gives up with exit 4", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 1 });
	const a = await run.agent("node-a");
	await run.formed();
	await run.act("node-a is cut off", () => a.store.cut());
	await run.pass(4_100);
	await run.act("its workers obey SIGTERM", () => a.obeys());
	await run.pass(610_000);
	await expectStory(run, "store-gone");
});
