import { expect, it } from "vitest";
import { SoftRestartPolicyStrategy } from "../../src/policies/built-in.js";
import { expectStory } from "../helpers/expect-story.js";
import {
	type ScriptedAgent,
	ScriptedRun,
	type ScriptedRunOptions,
} from "../helpers/scripted-run.js";

const policy = new SoftRestartPolicyStrategy();

async function twoNodes(options: ScriptedRunOptions = {}) {
	const run = new ScriptedRun({ maxNodes: 2, policy, ...options });
	const a = await run.agent("node-a");
	const b = await run.agent("node-b");
	await run.formed();
	return { run, a, b };
}

function succeeds(agent: ScriptedAgent): void {
	for (const rank of [0, 1]) agent.exits(rank, 0);
}

/** What every worker does that works as it should. */
async function goOn(run: ScriptedRun, ...agents: readonly ScriptedAgent[]) {
	await run.act("workers obey SIGTERM, and acknowledge PAUSE", () => {
		for (const agent of agents) agent.obeys();
		for (const agent of agents) agent.acknowledges();
	});
	await run.pass(1_000);
}

it("a node that has finished stays so, however often the others begin again: it counts towards MIN and gets no seat", async () => {
	const { run, a, b } = await twoNodes({ minNodes: 2 });
	await run.act("all of node-b succeeds", () => succeeds(b));
	for (const round of [1, 2]) {
		await run.act(`a worker of node-a fails in round ${round}`, () =>
			a.exits(1, 1),
		);
		await goOn(run, a);
	}
	await run.act("node-b's agent is killed", () => b.killed());
	await run.agent("node-b", { incarnation: "node-b-2", holderIsDead: true });
	await run.pass(10_000);
	await run.act("all of node-a succeeds", () => succeeds(a));
	await run.pass(1_000);
	await expectStory(run, "soft-finished-stays");
	expect(a.ending).toMatchObject({ exitCode: 0 });
});

it("T6 nobody is left for the rest: who has finished waits for the join time-out, and the run fails", async () => {
	const { run, a, b } = await twoNodes();
	await run.act("all of node-b succeeds", () => succeeds(b));
	await run.act("node-a's agent is killed", () => a.killed());
	await run.pass(620_000);
	await expectStory(run, "soft-nobody-for-the-rest");
	expect(b.ending).toMatchObject({ exitCode: 3 });
});

it("T10 a node's budget: fresh workers while it lasts, 75 when it is spent, and the others go on", async () => {
	const { run, a, b } = await twoNodes({ maxRestarts: 1 });
	for (const round of [1, 2]) {
		await run.act(`a worker of node-b fails in round ${round}`, () =>
			b.exits(0, 1),
		);
		await goOn(run, a, b);
	}
	await run.showCharges();
	await expectStory(run, "soft-budget-spent");
	expect(b.ending).toMatchObject({ outcome: "left", exitCode: 75 });
	expect(a.ending).toBeUndefined();
});

it("T6 fewer than MIN: paused workers end before their agent does, with 3", async () => {
	const { run, a, b } = await twoNodes({ minNodes: 2, joinTimeoutMs: 60_000 });
	await run.act("node-b's agent is killed", () => b.killed());
	await run.pass(6_000);
	await run.act("all acknowledge PAUSE", () => a.acknowledges());
	await run.pass(60_000);
	await run.act("the workers obey SIGTERM", () => a.obeys());
	await expectStory(run, "soft-below-min");
	expect(a.ending).toMatchObject({ exitCode: 3 });
});

it("a stop while workers are paused ends them, and a second one kills", async () => {
	const { run, a, b } = await twoNodes({ minNodes: 2 });
	await run.act("node-b vanishes", () => b.vanish());
	await run.act("node-a is told to stop", () => a.askToStop());
	await run.act("and again", () => a.askToStop(true));
	await run.act("its workers are gone", () => a.obeys());
	await run.pass(3_000);
	await expectStory(run, "soft-stopped-while-paused");
});

it("T5 a store that is out of reach: PAUSE by the fence, the same workers go on in the next round", async () => {
	const { run, a, b } = await twoNodes({ minNodes: 2 });
	await run.act("node-b is cut off", () => b.store.cut());
	await run.pass(10_000);
	await run.act("all acknowledge PAUSE", () => {
		for (const agent of [a, b]) agent.acknowledges();
	});
	await run.act("node-b is back", () => b.store.mend());
	await run.pass(5_000);
	await run.showCharges();
	await expectStory(run, "soft-fenced");
});

it("a worker that is to end has its whole time, whatever was to end before it", async () => {
	const run = new ScriptedRun({ maxNodes: 2, policy });
	const a = await run.agent("node-a", { localWorldSize: 3, listens: [1, 2] });
	const b = await run.agent("node-b");
	await run.formed();
	await run.act("node-b vanishes; the deaf one of node-a ignores SIGTERM", () =>
		b.vanish(),
	);
	await run.pass(20_000);
	await run.act("a paused worker fails, and the other one takes its time", () =>
		a.exits(1, 1),
	);
	await run.pass(10_000);
	await run.act("the one that was killed is gone", () => a.exits(0, 137));
	await run.pass(19_000);
	await run.act("the other one has ended by itself", () => a.exits(2, 143));
	await run.pass(1_000);
	await expectStory(run, "soft-grace");
});
