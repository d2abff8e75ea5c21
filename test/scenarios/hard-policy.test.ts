import { expect, it } from "vitest";
import { expectStory } from "../helpers/expect-story.js";
import { ScriptedRun } from "../helpers/scripted-run.js";

it("one machine: a worker fails, all start again, the run succeeds", async () => {
	const run = new ScriptedRun();
	const a = await run.agent("node-a");
	await run.pass(5_000);
	await run.act("local rank 1 fails", () => a.exits(1, 1));
	await run.pass(300);
	await run.act("the others obey SIGTERM", () => a.obeys());
	await run.pass(5_000);
	await run.act("both succeed", () => {
		a.exits(0, 0);
		a.exits(1, 0);
	});
	await run.pass(100);
	await expectStory(run, "one-machine-worker-failure");
	expect(a.ending).toMatchObject({ outcome: "succeeded", exitCode: 0 });
});

it("one machine: the budget is spent", async () => {
	const run = new ScriptedRun({ maxRestarts: 1 });
	const a = await run.agent("node-a");
	for (const time of ["first", "second"]) {
		await run.act(`local rank 0 fails for the ${time} time`, () =>
			a.exits(0, 7),
		);
		await run.act("the others obey SIGTERM", () => a.obeys());
		await run.pass(100);
	}
	await expectStory(run, "one-machine-budget-spent");
	expect(a.ending).toMatchObject({ outcome: "failed", exitCode: 1 });
});

it("one machine: a worker ignores SIGTERM and is killed when its time is over", async () => {
	const run = new ScriptedRun();
	const a = await run.agent("node-a");
	await run.act("local rank 0 fails, the other ignores SIGTERM", () =>
		a.exits(0, 1),
	);
	await run.pass(30_000);
	await run.act("the killed one is gone", () => a.obeys());
	await run.pass(100);
	await expectStory(run, "one-machine-ignores-sigterm");
});

it("one machine: a process survives SIGKILL in the kernel", async () => {
	const run = new ScriptedRun();
	const a = await run.agent("node-a");
	await run.act("local rank 0 fails, the other cannot be killed", () =>
		a.exits(0, 1),
	);
	await run.pass(35_000);
	await expectStory(run, "one-machine-unkillable");
	expect(a.ending).toMatchObject({ outcome: "left", exitCode: 75 });
});

it("one machine: asked to stop, then asked again", async () => {
	const run = new ScriptedRun();
	const a = await run.agent("node-a");
	await run.act("SIGTERM", () => a.askToStop());
	await run.pass(1_000);
	await run.act("SIGTERM again", () => a.askToStop(true));
	await run.act("the workers are gone", () => a.obeys());
	await run.pass(100);
	await expectStory(run, "one-machine-stopped-twice");
	expect(a.ending).toMatchObject({ outcome: "left", exitCode: 143 });
});

it("two machines: a failure of one stops both, and costs one restart", async () => {
	const run = new ScriptedRun({ minNodes: 2, maxNodes: 2 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("local rank 0 of node-b fails, and local rank 1 of it", () => {
		b.exits(0, 1);
		b.exits(1, 1);
	});
	await run.act("the workers of node-a obey SIGTERM", () => a.obeys());
	await run.pass(1_000);
	await expectStory(run, "two-machines-worker-failure");
});

it("two machines of one to two: one vanishes, the other goes on; it comes back", async () => {
	const run = new ScriptedRun({ minNodes: 1, maxNodes: 2 });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("node-a vanishes", () => a.vanish());
	await run.pass(1_000);
	await run.act("the workers of node-b obey SIGTERM", () => b.obeys());
	await run.pass(1_000);
	await run.agent("node-c");
	await run.pass(1_000);
	await run.act("the workers of node-b obey SIGTERM", () => b.obeys());
	await run.pass(1_000);
	await expectStory(run, "two-machines-vanish-and-join");
});
