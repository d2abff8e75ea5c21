import { describe, expect, it } from "vitest";
import { lifts } from "./history.js";
import { Random } from "./random.js";
import { describeRed, runSeeds } from "./run-seeds.js";
import { NEVER_LISTENS, type RunShape } from "./settings.js";
import type { SimAgent } from "./sim-agent.js";
import { Simulation } from "./simulation.js";

const SEEDS = 60;
const AGENTS = 3;
const TTL_MS = 5_000;
const RIDE_OUT_MS = 8 * TTL_MS;
/** When the store goes away. */
const AWAY_AT_MS = 20_000;
const REST_MS = 60_000;
/** Until an agent looks at its lease and tells, at the latest. */
const LOOKS_MS = 500;

it(`A6 J22 holds every invariant where agents have links: ${SEEDS} seeds`, async () => {
	const { red } = await runSeeds(1, SEEDS, { more: { links: true } });
	expect(red === undefined ? "all green" : describeRed(red)).toBe("all green");
}, 300_000);

describe.each([
	"freeze",
	"restart",
] as const)("A6 J22 an outage: %s", (kind) => {
	it.each([0.5, 1.5, 5])("of %s leases touches nobody", async (leases) => {
		const { history } = await outage(kind, leases * TTL_MS);
		expect(history.processes.map((one) => one.lossesTold)).toEqual([
			[],
			[],
			[],
		]);
		expect(lifts(history)).toHaveLength(1);
		expect(history.workers.filter((one) => one.endedAt !== null)).toEqual([]);
	});

	it("that is longer than a round rides ends all workers", async () => {
		const { history } = await outage(kind, RIDE_OUT_MS + 2 * TTL_MS);
		for (const { lossesTold } of history.processes) {
			const [told = 0] = lossesTold;
			expect(told).toBeGreaterThan(AWAY_AT_MS + RIDE_OUT_MS - TTL_MS);
			expect(told).toBeLessThan(AWAY_AT_MS + RIDE_OUT_MS + LOOKS_MS);
		}
		const first = history.workers.filter(
			({ stints: [one] }) => one?.round === 1,
		);
		expect(first.filter((one) => one.endedAt === null)).toEqual([]);
	});

	it.each([
		["the head", true],
		["another agent", false],
	])("in which %s stands still for two leases touches nobody", async (_, isHead) => {
		const { history } = await outage(kind, 7 * TTL_MS, (run) => {
			run.timeline.at(AWAY_AT_MS + 3 * TTL_MS, () => {
				find(run, isHead)?.freeze(2 * TTL_MS);
			});
		});
		expect(history.processes.flatMap((one) => one.lossesTold)).toEqual([]);
		expect(history.workers.filter((one) => one.endedAt !== null)).toEqual([]);
	});

	it.each([
		["the head", true],
		["another agent", false],
	])("in which %s is killed ends the others' workers within three and a half leases", async (_, isHead) => {
		const killedAt = AWAY_AT_MS + 3 * TTL_MS;
		const { history } = await outage(kind, 7 * TTL_MS, (run) => {
			run.timeline.at(killedAt, () => find(run, isHead)?.crash());
		});
		const others = history.processes.filter((one) => one.endedAt === null);
		expect(others).toHaveLength(AGENTS - 1);
		for (const { lossesTold } of others) {
			const [told = 0] = lossesTold;
			expect(told).toBeGreaterThan(killedAt);
			expect(told).toBeLessThan(killedAt + 3.5 * TTL_MS + LOOKS_MS);
		}
	});
});

/** The head of the round, or another agent. */
function find(run: Simulation, isHead: boolean): SimAgent | undefined {
	const head = run.history.commits.at(-1)?.round.head?.incarnation;
	return run
		.living()
		.find(({ history }) => (history.incarnation === head) === isHead);
}

/** A run of three agents in which nothing happens but that the store is away for a time. */
async function outage(
	kind: "freeze" | "restart",
	durationMs: number,
	meanwhile: (run: Simulation) => void = () => {},
): Promise<Simulation> {
	const run = new Simulation(1, new Random(1), SHAPE);
	run.lastFault = AWAY_AT_MS + durationMs;
	for (let index = 0; index < AGENTS; index++) run.startAgent();
	run.after(AWAY_AT_MS, () => run.store[kind](durationMs));
	meanwhile(run);
	await run.timeline.runUntil(run.lastFault + REST_MS);
	return run;
}

const SHAPE: RunShape = {
	spec: {
		...{ version: 1, minNodes: AGENTS, maxNodes: AGENTS, policy: "hard" },
		...{ maxRestarts: 3, joinTimeoutMs: 600_000, lastCallTimeoutMs: 500 },
		...{ settleTimeoutMs: 10_000, leaseTtlMs: TTL_MS },
		rideOutMs: RIDE_OUT_MS,
	},
	policy: "hard",
	...{ shutdownTimeoutMs: 5_000, pauseTimeoutMs: 10_000 },
	habits: {
		...{ fails: 0, hangs: 1, ignoresTerm: 0, leavesChild: 0 },
		...{ cannotStart: 0, sticks: 0, ...NEVER_LISTENS },
		...{ shortestMs: 0, longestMs: 0 },
	},
	agents: AGENTS,
	roles: ["default"],
	batchSize: 100,
	supervised: false,
	doublesHints: false,
};
