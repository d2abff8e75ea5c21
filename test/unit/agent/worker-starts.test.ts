import { beforeEach, describe, expect, it } from "vitest";
import type { AgentInput } from "../../../src/agent/machine/inputs.js";
import type { PreparedWorker } from "../../../src/agent/workers/prepared-worker.js";
import { WorkerGroup } from "../../../src/agent/workers/worker-group.js";
import { ElasticRunError } from "../../../src/base/errors.js";
import type { SpawnProblem } from "../../../src/processes/worker.js";
import { roundRecord, seatRecord, WORLD } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const NOTHING_DONE = () => {};
const SHORT = { code: "EAGAIN", message: "raise ulimit -u" };

/** As writing to a full disk fails, below what the channel says of it. */
function noRoom(code: string): ElasticRunError {
	const cause = Object.assign(new Error(`${code}: no room`), { code });
	return new ElasticRunError("CHANNEL", "make room there", { cause });
}

describe("the start of a round's workers on a node that lacks something", () => {
	let clock: VirtualClock;
	let inputs: AgentInput[];
	let warnings: string[];
	/** How often workers' channels were there to be heard. */
	let heard: number;
	let spawned: number[];
	/** What a worker's preparation or spawn fails with, by local rank. */
	let unprepared: Map<number, unknown>;
	let unspawned: Map<number, SpawnProblem>;
	let group: WorkerGroup;

	const prepare = ({ localRank }: { localRank: number }): PreparedWorker => {
		const error = unprepared.get(localRank);
		if (error !== undefined) throw error;
		return {
			spec: {
				...{ localRank, file: "worker", args: [], cwd: "/", env: {} },
				...{ stdout: 1, stderr: 2 },
			},
			directory: `worker-${localRank}`,
			logs: { directory: "", stdout: undefined, stderr: undefined },
			tell: NOTHING_DONE,
			notify: () => 0,
			ring: NOTHING_DONE,
			moved: NOTHING_DONE,
			release: NOTHING_DONE,
			hear: NOTHING_DONE,
			readError: () => undefined,
			readException: () => undefined,
			readLastLines: () => [],
			discard: NOTHING_DONE,
		};
	};

	const kinds = () =>
		inputs.map((input) =>
			"localRank" in input ? `${input.kind} ${input.localRank}` : input.kind,
		);

	const start = async (workers: number) => {
		const seat = seatRecord("a", { localWorldSize: workers });
		group.start(roundRecord({ synced: 1, world: WORLD }), seat, new Map());
		await clock.advance(0);
	};

	beforeEach(() => {
		clock = new VirtualClock(0);
		inputs = [];
		warnings = [];
		heard = 0;
		spawned = [];
		unprepared = new Map();
		unspawned = new Map();
		group = new WorkerGroup({
			...{ runId: "r", clock, prepare, holdsLease: () => true },
			spawner: {
				spawn: ({ localRank }, listener) => {
					const problem = unspawned.get(localRank);
					if (problem === undefined) {
						spawned.push(localRank);
						return {
							pid: 100 + localRank,
							signal: NOTHING_DONE,
							passOn: () => false,
						};
					}
					queueMicrotask(() => {
						listener.spawnFailed(problem);
						listener.gone();
					});
					return { pid: undefined, signal: NOTHING_DONE, passOn: () => false };
				},
			},
			readOomKills: () => undefined,
			onSpawning: NOTHING_DONE,
			onStarted: NOTHING_DONE,
			onChannels: () => {
				heard += 1;
			},
			log: {
				info: (message) => warnings.push(message),
				warn: (message) => warnings.push(message),
			},
			dispatch: (input) => inputs.push(input),
		});
	});

	it("is tried again until there is enough of it, and no failure is told", async () => {
		unspawned.set(0, SHORT).set(1, SHORT);
		await start(3);
		expect(kinds()).toEqual(["worker-started 2"]);
		expect(warnings).toEqual([
			"rank 0 cannot be started: raise ulimit -u; the start is tried again in 0.25 s, for at most 20 s more",
		]);
		unspawned.delete(1);
		await clock.advance(250);
		expect(warnings.slice(1)).toEqual([
			"round 1: started 1 more",
			expect.stringContaining("is tried again in 0.5 s"),
		]);
		unspawned.delete(0);
		await clock.advance(500);
		expect(kinds()).toEqual([2, 1, 0].map((rank) => `worker-started ${rank}`));
		expect(heard).toBe(3);
		expect(clock.nextAlarm).toBeUndefined();
	});

	it.each([
		["EAGAIN"],
		["ENOMEM"],
		["EMFILE"],
		["ENFILE"],
	])("%s at every spawn is this node's after 20 s, told once", async (code) => {
		unspawned.set(0, { code, message: "none left" });
		await start(1);
		await clock.advance(19_999);
		expect(kinds()).toEqual([]);
		await clock.advance(1);
		expect(inputs).toEqual([
			{
				kind: "worker-not-started",
				localRank: 0,
				problem: { code, message: "none left (tried again for 20 s)" },
			},
			{ kind: "worker-gone", localRank: 0 },
		]);
		expect(warnings).toHaveLength(9);
		expect(clock.nextAlarm).toBeUndefined();
	});

	it.each([
		["ENOSPC"],
		["EMFILE"],
		["EDQUOT"],
	])("%s while a worker's files are made is waited for", async (code) => {
		unprepared.set(1, noRoom(code));
		await start(3);
		expect(spawned).toEqual([0]);
		expect(warnings[0]).toMatch(/^rank 1 cannot be started: make room there;/);
		unprepared.delete(1);
		await clock.advance(250);
		expect(spawned).toEqual([0, 1, 2]);
	});

	it.each([
		["a file system that is read-only", noRoom("EROFS"), "UNPREPARED"],
		["a bug", new Error("no"), "UNPREPARED"],
	])("%s is told at once", async (_, error, code) => {
		unprepared.set(0, error);
		await start(2);
		expect(inputs[0]).toMatchObject({ problem: { code } });
		expect(kinds()).toEqual([
			...["worker-not-started 0", "worker-gone 0", "worker-gone 1"],
		]);
		expect(warnings).toEqual([]);
	});

	it.each([
		["waits for its next try", true],
		["is being spawned", false],
	])("a worker that is told to end while it %s is not started", async (_, waits) => {
		unspawned.set(0, SHORT);
		const started = start(1);
		if (waits) await started;
		group.terminate([0]);
		unspawned.clear();
		await clock.advance(60_000);
		expect(kinds().at(-1)).toBe("worker-gone 0");
		expect(kinds().filter((kind) => kind === "worker-gone 0")).toHaveLength(1);
		expect(spawned).toEqual([]);
		expect(clock.nextAlarm).toBeUndefined();
	});
});
