import { it } from "vitest";
import { expectStory } from "../helpers/expect-story.js";
import { ScriptedRun } from "../helpers/scripted-run.js";

it("a member that is late is waited for, however many spares are ready; then it comes back as a newcomer", async () => {
	const run = new ScriptedRun({
		minNodes: 1,
		maxNodes: 2,
		settleTimeoutMs: 5_000,
	});
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.agent("node-c");
	await run.formed();
	await run.act("node-a fails; a worker of node-b ignores SIGTERM", () => {
		a.exits(0, 1);
		a.obeys();
	});
	await run.pass(5_000);
	await run.act("node-b's workers are gone at last", () => b.obeys());
	await run.pass(1_000);
	await expectStory(run, "late-member");
});
