// What torchelastic's own tests of its agent ask for, under the ids of
// docs/testing.md: here with several agents and workers that do what they are told.
import { describe, expect, it } from "vitest";
import { RunKeys } from "../../src/rendezvous/records/keys.js";
import { decodeRecord } from "../../src/rendezvous/records/record-codec.js";
import { SEAT, type SeatRecord } from "../../src/rendezvous/records/records.js";
import {
	type ScriptedAgent,
	ScriptedRun,
	type ScriptedRunOptions,
} from "../helpers/scripted-run.js";

const ENDS_WELL = { outcome: "succeeded", exitCode: 0 };
const RANKS = [0, 1];

async function form(options: ScriptedRunOptions, ...nodeIds: string[]) {
	const run = new ScriptedRun({ lastCallTimeoutMs: 1_000, ...options });
	const agents: ScriptedAgent[] = [];
	for (const nodeId of nodeIds) agents.push(await run.agent(nodeId));
	await run.pass(2_000);
	return { run, agents };
}

async function allExit(
	run: ScriptedRun,
	exitCode: number,
	...agents: readonly ScriptedAgent[]
) {
	await run.act(`exit with ${exitCode}`, () => {
		for (const agent of agents) {
			for (const rank of RANKS) agent.exits(rank, exitCode);
		}
	});
	await run.pass(100);
}

/** The seats of the newest plan, by group rank. */
async function seats(run: ScriptedRun): Promise<readonly SeatRecord[]> {
	const { entries } = await run.store.snapshot([new RunKeys("scripted").seats]);
	return [...entries.values()]
		.map((entry) => decodeRecord(SEAT, entry))
		.filter((seat) => "planId" in seat)
		.sort((left, right) => left.groupRank - right.groupRank);
}

function roundsOf(run: ScriptedRun): number {
	return run.lines.filter((line) => / plans: round \d+: /.test(line)).length;
}

describe("torchelastic: workers that end", () => {
	it("TE-A1 TE-S1 all succeed: so does the run", async () => {
		const { run, agents } = await form({ maxNodes: 1 }, "node-a");
		await allExit(run, 0, ...agents);
		expect(agents[0]?.ending).toMatchObject(ENDS_WELL);
	});

	it("TE-A8 TE-S2 they always fail: the budget is spent, one start more than it allows", async () => {
		const { run, agents } = await form({ maxRestarts: 2 }, "node-a");
		const [agent] = agents;
		if (agent === undefined) expect.unreachable();
		for (let start = 0; start < 3; start += 1) {
			await run.act("rank 1 fails, rank 0 obeys", () => agent.exits(1, 1));
			agent.obeys();
			await run.pass(100);
		}
		expect(roundsOf(run)).toBe(3);
		expect(agent.ending).toMatchObject({ outcome: "failed", exitCode: 1 });
	});

	it("TE-A16 one fails in its first round only: the run succeeds", async () => {
		const { run, agents } = await form({}, "node-a");
		agents[0]?.exits(1, 137);
		agents[0]?.obeys();
		await run.pass(100);
		await allExit(run, 0, ...agents);
		expect(agents[0]?.ending).toMatchObject(ENDS_WELL);
		expect(roundsOf(run)).toBe(2);
	});

	it("TE-A11 half of them fail: both agents end, no barrier holds them", async () => {
		const options = { minNodes: 2, maxNodes: 2, maxRestarts: 0 };
		const { run, agents } = await form(options, "node-a", "node-b");
		await run.act("odd ranks fail", () => {
			for (const agent of agents) agent.exits(1, 1);
		});
		for (const agent of agents) agent.obeys();
		await run.pass(100);
		for (const { ending } of agents) expect(ending?.exitCode).toBe(1);
	});

	it.each([
		0, 4_000,
	])("TE-A12 TE-A13 TE-A14 one node ends %d ms after the other: both succeed", async (driftMs) => {
		const options = { minNodes: 2, maxNodes: 2 };
		const { run, agents } = await form(options, "node-a", "node-b");
		const [first, second] = agents;
		if (!first || !second) expect.unreachable();
		await allExit(run, 0, first);
		await run.pass(driftMs);
		expect(first.ending).toBeUndefined();
		await allExit(run, 0, second);
		for (const { ending } of agents) expect(ending).toMatchObject(ENDS_WELL);
	});
});

describe("torchelastic: agents that go and come", () => {
	it("TE-A9 one of two is killed, and a new one takes its place: all end well, nothing is charged", async () => {
		const options = { minNodes: 2, maxNodes: 2, maxRestarts: 0 };
		const { run, agents } = await form(options, "node-a", "node-b");
		const [survivor, victim] = agents;
		await run.act("node-b is killed", () => victim?.killed());
		const again = await run.agent("node-b", {
			incarnation: "node-b-2",
			holderIsDead: true,
		});
		survivor?.obeys();
		await run.pass(10_000);
		await allExit(run, 0, ...[survivor ?? again, again]);
		expect(survivor?.ending).toMatchObject(ENDS_WELL);
		expect(again.ending).toMatchObject(ENDS_WELL);
	});

	it("TE-A10 one of two is killed for good: the other ends well by itself", async () => {
		const options = { minNodes: 1, maxNodes: 2, maxRestarts: 0 };
		const { run, agents } = await form(options, "node-a", "node-b");
		const [survivor, victim] = agents;
		if (survivor === undefined) expect.unreachable();
		await run.act("node-b is killed", () => victim?.killed());
		await run.pass(6_000);
		survivor.obeys();
		await run.pass(1_000);
		await allExit(run, 0, survivor);
		expect(survivor.ending).toMatchObject(ENDS_WELL);
	});

	it("TE-A21 TE-S3 a second node joins later: the first node's workers restart in the larger world, uncharged", async () => {
		const options = { maxNodes: 2, maxRestarts: 0 };
		const { run, agents } = await form(options, "node-a");
		const joiner = await run.agent("node-b");
		for (const agent of agents) agent.obeys();
		await run.pass(1_000);
		expect((await seats(run)).map(({ round }) => round)).toEqual([2, 2]);
		await allExit(run, 0, ...agents, joiner);
		expect(joiner.ending).toMatchObject(ENDS_WELL);
	});

	it("TE-S7 TE-S8 TE-L7 one is told to stop: it leaves with its signal's code, and the run goes on", async () => {
		const options = { minNodes: 1, maxNodes: 2 };
		const { run, agents } = await form(options, "node-a", "node-b");
		const [survivor, leaver] = agents;
		if (survivor === undefined) expect.unreachable();
		await run.act("SIGTERM to node-b", () => leaver?.askToStop());
		for (const agent of agents) agent.obeys();
		await run.pass(1_000);
		expect(leaver?.ending).toMatchObject({ outcome: "left", exitCode: 143 });
		await allExit(run, 0, survivor);
		expect(survivor.ending).toMatchObject(ENDS_WELL);
	});
});

describe("torchelastic: ranks", () => {
	it.each<[string, readonly (readonly [role: string, size: number])[]]>([
		[
			"A3 two nodes alike",
			[
				["default", 4],
				["default", 4],
			],
		],
		[
			"A4 three nodes of 1, 2 and 3 workers",
			[
				["default", 1],
				["default", 2],
				["default", 3],
			],
		],
		[
			"A5 seven nodes of three roles and many sizes",
			[
				["master", 8],
				["trainer", 1],
				["trainer", 2],
				["trainer", 3],
				["trainer", 4],
				["ps", 5],
				["ps", 2],
			],
		],
		[
			"A6 seven nodes of three roles, alike within a role",
			[
				["master", 1],
				["trainer", 4],
				["trainer", 4],
				["trainer", 4],
				["trainer", 4],
				["ps", 3],
				["ps", 3],
			],
		],
		[
			"S6 roles whose nodes come mixed",
			[
				["ps", 4],
				["trainer", 1],
				["trainer", 2],
				["trainer", 3],
				["ps", 5],
			],
		],
	])("%s: contiguous on each node, and within each role", async (_, nodes) => {
		const run = new ScriptedRun({
			minNodes: nodes.length,
			maxNodes: nodes.length,
		});
		for (const [index, [role, localWorldSize]] of nodes.entries()) {
			await run.agent(`node-${index}`, { role, localWorldSize });
		}
		await run.pass(1_000);
		let firstRank = 0;
		const inRole: Record<string, number> = {};
		const expected = nodes.map(([role, localWorldSize], groupRank) => {
			const seat = {
				groupRank,
				firstRank,
				role,
				localWorldSize,
				firstRoleRank: inRole[role] ?? 0,
			};
			firstRank += localWorldSize;
			inRole[role] = seat.firstRoleRank + localWorldSize;
			return seat;
		});
		expect(await seats(run)).toMatchObject(expected);
		expect(run.lines.join("\n")).toContain(`of ${firstRank}, master`);
	});
});
