// What torchelastic's own tests of its rendezvous ask for, under PyTorch's names: docs/testing.md.
import { describe, expect, it } from "vitest";
import { RunKeys } from "../../src/rendezvous/records/keys.js";
import { decodeRecord } from "../../src/rendezvous/records/record-codec.js";
import {
	ROUND,
	type RoundRecord,
} from "../../src/rendezvous/records/records.js";
import { ScriptedRun } from "../helpers/scripted-run.js";

async function round(run: ScriptedRun): Promise<RoundRecord> {
	const key = new RunKeys("scripted").round;
	const { entries } = await run.store.snapshot([key]);
	const entry = entries.get(key);
	if (entry === undefined) expect.unreachable("there is no round yet");
	return decodeRecord(ROUND, entry);
}

describe("torchelastic: the last call", () => {
	it("TE-R1 TE-R5 TE-L4 begins when MIN are there, and the round when it is over", async () => {
		const run = new ScriptedRun({ maxNodes: 2, lastCallTimeoutMs: 1_000 });
		await run.agent("node-a");
		await run.pass(990);
		expect(await round(run)).toMatchObject({ synced: 0 });
		await run.pass(10);
		expect(await round(run)).toMatchObject({ synced: 1, seats: 1 });
	});

	it("TE-R2 TE-R15 TE-I1 TE-L5 ends when MAX are there; each has a rank of its own", async () => {
		const run = new ScriptedRun({ minNodes: 2, maxNodes: 3 });
		for (const nodeId of ["node-a", "node-b", "node-c"])
			await run.agent(nodeId);
		expect(await round(run)).toMatchObject({
			...{ synced: 1, seats: 3 },
			world: { worldSize: 6, groupWorldSize: 3 },
		});
		for (const ranks of ["0-1", "2-3", "4-5"]) {
			expect(run.lines.join("\n")).toContain(`round 1: ranks ${ranks} of 6`);
		}
	});

	it("TE-R4 stops when fewer than MIN are left, and starts again later", async () => {
		const run = new ScriptedRun({
			...{ minNodes: 2, maxNodes: 3, lastCallTimeoutMs: 10_000 },
		});
		await run.agent("node-a");
		const leaver = await run.agent("node-b");
		await run.pass(9_000);
		await run.act("node-b leaves", () => leaver.askToStop());
		await run.pass(2_000);
		expect(await round(run)).toMatchObject({ synced: 0 });
		await run.agent("node-c");
		await run.pass(9_000);
		expect(await round(run)).toMatchObject({ synced: 0 });
		await run.pass(1_000);
		expect(await round(run)).toMatchObject({ synced: 1, seats: 2 });
	});
});

describe("torchelastic: who comes late, and who goes", () => {
	it("TE-R7 a late one waits while the round runs, and is let in by the next", async () => {
		const run = new ScriptedRun({ maxNodes: 2, lastCallTimeoutMs: 1_000 });
		const first = await run.agent("node-a");
		await run.pass(2_000);
		await run.agent("node-b");
		first.obeys();
		await run.pass(1_000);
		expect(await round(run)).toMatchObject({ synced: 2, seats: 2 });
	});

	it("TE-R6 TE-I2 one beyond MAX waits for as long as it takes, and has the first seat that becomes free", async () => {
		const run = new ScriptedRun({
			...{ minNodes: 2, maxNodes: 2, joinTimeoutMs: 60_000 },
		});
		const member = await run.agent("node-a");
		const other = await run.agent("node-b");
		const spare = await run.agent("node-c");
		await run.pass(3_600_000);
		expect(spare.ending).toBeUndefined();
		await run.act("node-a vanishes", () => member.vanish());
		await run.pass(500);
		other.obeys();
		await run.pass(1_000);
		expect(run.lines.join("\n")).toContain("node-c: JOINING→RUNNING round 2");
	});

	it("TE-R3 TE-R9 all have gone: the next one begins a later round of the same run", async () => {
		const run = new ScriptedRun({ maxNodes: 2, lastCallTimeoutMs: 0 });
		const first = await run.agent("node-a");
		await run.act("node-a vanishes", () => first.vanish());
		const before = await round(run);
		await run.agent("node-b");
		await run.pass(60_000);
		const after = await round(run);
		expect(after.synced).toBe(before.synced + 1);
		expect(after.seats).toBe(1);
	});

	it("TE-R8 too few come: the run fails when the join time-out is over, and says so", async () => {
		const run = new ScriptedRun({
			...{ minNodes: 2, maxNodes: 2, joinTimeoutMs: 10_000 },
		});
		const alone = await run.agent("node-a");
		await run.pass(10_000);
		expect(alone.ending).toMatchObject({ exitCode: 3 });
		expect(alone.ending?.reason).toContain("1 of at least 2 nodes are ready");
	});

	it("TE-R12 TE-R14 rounds follow each other, whatever fails on the way to the store", async () => {
		const run = new ScriptedRun({ maxRestarts: 3 });
		const agent = await run.agent("node-a");
		for (const next of [2, 3, 4]) {
			agent.store.cut();
			await run.pass(1_000);
			agent.store.mend();
			agent.exits(0, 1);
			agent.obeys();
			await run.pass(2_000);
			expect(await round(run)).toMatchObject({ synced: next });
		}
	});

	it("TE-I3 rank 0 goes: the next one is rank 0, with an address and a port of its own", async () => {
		const run = new ScriptedRun({ maxNodes: 2, lastCallTimeoutMs: 1_000 });
		const first = await run.agent("node-a");
		const second = await run.agent("node-b");
		await run.act("node-a vanishes", () => first.vanish());
		await run.pass(500);
		second.obeys();
		await run.pass(1_000);
		expect((await round(run)).world).toMatchObject({
			...{ worldSize: 2, masterAddr: "node-b.example", masterPort: 4002 },
		});
	});
});

it("TE-R16 what all agents read does not grow with the number of nodes", async () => {
	const sizes = [1, 40].map(async (nodes) => {
		const run = new ScriptedRun({ minNodes: nodes, maxNodes: nodes });
		for (let index = 0; index < nodes; index += 1) {
			await run.agent(`node-${index + 10}`);
		}
		await run.pass(1_000);
		return JSON.stringify(await round(run)).length;
	});
	const [one = 0, many = 0] = await Promise.all(sizes);
	expect(many - one).toBeLessThan(20);
});
