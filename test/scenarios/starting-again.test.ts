import { it } from "vitest";
import { expectStory } from "../helpers/expect-story.js";
import { ScriptedRun } from "../helpers/scripted-run.js";

it("the same run id again: who comes late ends with the outcome, who comes later begins again", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 2, maxRestarts: 0 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("node-a fails, which spends the budget", () => {
		a.exits(0, 1);
		a.obeys();
	});
	await run.agent("node-c");
	await run.pass(1_000);
	await run.act("the workers of node-b obey SIGTERM at last", () => b.obeys());
	await run.pass(1_000);
	await run.agent("node-a", { incarnation: "node-a-2" });
	await run.pass(31_000);
	await expectStory(run, "starting-again");
});
