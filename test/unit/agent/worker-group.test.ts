import { beforeEach, describe, expect, it } from "vitest";
import type { AgentInput } from "../../../src/agent/machine/inputs.js";
import { WorkerGroup } from "../../../src/agent/workers/worker-group.js";
import { ElasticRunError } from "../../../src/base/errors.js";
import type {
	SpawnProblem,
	WorkerListener,
} from "../../../src/processes/index.js";
import { roundRecord, seatRecord, WORLD } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const NOTHING_DONE = () => {};
const SHORT = { code: "EAGAIN", message: "raise ulimit -u" };
const GOING = { deadline: 1, source: "azure", reason: "Preempt" };
const STAYS = { deadline: null, source: null, reason: "gone" };

let clock: VirtualClock;
/** What was done, in order. */
let done: string[];
let inputs: AgentInput[];
let logged: string[];
let spawned: number[];
/** The pids that were logged as started. */
let told: number[][];
/** How many workers were kept, and how many had ended. */
let counts: readonly number[];
/** The newest process in each place. */
let listeners: Map<number, WorkerListener>;
/** What a worker's preparation or spawn fails with, by local rank. */
let unprepared: Map<number, unknown>;
let unspawned: Map<number, SpawnProblem>;
let hasLease: boolean;
/** How long a spawn blocks the agent, in milliseconds. */
let spawnMs: number;
let group: WorkerGroup;

const start = async (
	workers: number,
	round = 1,
	kept = [] as number[],
	ended = [] as number[],
) => {
	const seat = seatRecord("a", { localWorldSize: workers });
	const changes = kept.map((rank) => [rank, "SCALE_DOWN"] as const);
	const record = roundRecord({ synced: round, world: WORLD });
	group.start(record, seat, new Map(changes), ended);
	await clock.advance(0);
};

const kinds = () =>
	inputs.map((input) =>
		"localRank" in input ? `${input.kind} ${input.localRank}` : input.kind,
	);

beforeEach(() => {
	clock = new VirtualClock(0);
	done = [];
	inputs = [];
	logged = [];
	spawned = [];
	told = [];
	listeners = new Map();
	unprepared = new Map();
	unspawned = new Map();
	hasLease = true;
	spawnMs = 0;
	const log = (message: string) => logged.push(message);
	group = new WorkerGroup({
		runId: "r",
		clock,
		holdsLease: () => hasLease,
		workplace: {
			prepare: ({ localRank }) => {
				const error = unprepared.get(localRank);
				if (error !== undefined) throw error;
				let sequence = 1;
				return {
					spec: {
						...{ localRank, file: "worker", args: [], cwd: "/", env: {} },
						...{ stdout: 1, stderr: 2 },
					},
					channel: {
						directory: `worker-${localRank}`,
						send: ({ kind }) => done.push(`${kind} ${localRank}`),
						notify: ({ source }) => {
							sequence += 1;
							done.push(`NOTICE ${localRank} ${source}`);
							return { sequence };
						},
						ring: () => done.push(`ring ${localRank}`),
					},
					output: undefined,
				};
			},
			listen: () => done.push("listen"),
			readReplies: ({ directory }) => done.push(`read ${directory}`),
			readAllReplies: () => done.push("read all"),
			discard: NOTHING_DONE,
		},
		spawner: {
			spawn: ({ localRank }, listener) => {
				listeners.set(localRank, listener);
				clock.pass(spawnMs);
				const signal = NOTHING_DONE;
				const problem = unspawned.get(localRank);
				if (problem === undefined) {
					spawned.push(localRank);
					return { pid: 100 + localRank, signal, passOn: () => false };
				}
				queueMicrotask(() => {
					listener.spawnFailed(problem);
					listener.gone();
				});
				return { pid: undefined, signal, passOn: () => false };
			},
		},
		readOomKills: () => undefined,
		onSpawning: NOTHING_DONE,
		onStarted: (_, workers, ...others) => {
			told.push(workers.map(({ pid }) => pid ?? 0));
			counts = others;
		},
		log: { info: log, warn: log },
		dispatch: (input) => {
			done.push(input.kind);
			inputs.push(input);
		},
	});
});

describe("the workers of one node", () => {
	beforeEach(async () => {
		await start(3);
		done = [];
	});

	it("get PAUSE before they are woken, a few at a time, and the last are woken when what comes next in this moment has been done", async () => {
		group.pause([0, 1, 2], { change: "SCALE_DOWN", reason: "b left" });
		done.push("the node is ready");
		expect(done).toEqual([
			...["PAUSE 0", "PAUSE 1", "ring 0", "ring 1"],
			...["PAUSE 2", "the node is ready"],
		]);
		await clock.advance(0);
		expect(done.slice(6)).toEqual(["ring 2"]);
	});

	it("get WORK before they are woken, and are woken before others are started", async () => {
		await start(3, 2, [0, 2]);
		expect(done.slice(0, 4)).toEqual(["WORK 0", "WORK 2", "ring 0", "ring 2"]);
		expect(spawned).toEqual([0, 1, 2, 1]);
	});

	it("that have ended stay so where others run on, and count as neither kept nor started", async () => {
		await start(3, 2, [0], [2]);
		expect(spawned).toEqual([0, 1, 2, 1]);
		expect(counts).toEqual([1, 1]);
	});

	it.each([
		["a failure", 3, false, ["read worker-1", "read all", "worker-exited"]],
		["a success", 0, false, ["read worker-1", "worker-exited"]],
		["an end that the agent wanted", 143, true, ["read worker-1"]],
	])("all have been heard before %s is dispatched", (_, code, signalledByAgent, first) => {
		const exit = { code, signal: null, signalledByAgent, uptimeMs: 5 };
		listeners.get(1)?.exited(exit, false);
		expect(done.slice(0, first.length)).toEqual(first);
		expect(inputs.at(-1)).toMatchObject({
			...{ kind: "worker-exited", localRank: 1, pid: 101, exitCode: code },
		});
		expect(group.results[1]).toMatchObject({
			...{ pid: 101, exitCode: code, collateral: signalledByAgent },
		});
	});
});

describe("a worker that has ended", () => {
	it.each([
		[false, 1],
		[true, 2],
	])("is heard once more if its group remained: %s", async (remains, times) => {
		await start(1);
		const exit = {
			...{ code: 0, signal: null, signalledByAgent: false },
			uptimeMs: 5,
		};
		listeners.get(0)?.exited(exit, remains);
		listeners.get(0)?.gone();
		const reads = done.filter((what) => what === "read worker-0");
		expect(reads).toHaveLength(times);
	});
});

describe("a worker's notices", () => {
	const reply = (kind: "NOTICED" | "ACK", event: number) => {
		inputs = [];
		const times = { sequence: 1, timestamp: 0 };
		group.receive("worker-0", { kind, event, ...times });
		return inputs;
	};
	const notice = (about: typeof GOING | typeof STAYS) =>
		group.notice([0], { ...about, isFirst: false });
	const ready = [{ kind: "worker-ready", localRank: 0 }];
	const acknowledged = (event: number) => [
		{ kind: "worker-acknowledged", localRank: 0, event },
	];

	it("P12 a worker that answers a withdrawn notice late is not ready for the next one", async () => {
		await start(1);
		notice(GOING);
		notice(STAYS);
		expect(reply("NOTICED", 2)).toEqual([]);
		expect(reply("ACK", 2)).toEqual([]);
		notice(GOING);
		expect(reply("ACK", 2)).toEqual([]);
		expect(reply("ACK", 4)).toEqual(ready);
		// The number of an event of a round leaves all notices out.
		expect(reply("ACK", 5)).toEqual(acknowledged(2));
	});

	it("P12 a worker that is started again gets the notice again, and its first answers are about the round", async () => {
		unspawned.set(0, SHORT);
		await start(1);
		notice(GOING);
		done = [];
		unspawned.clear();
		await clock.advance(250);
		expect(done).toContain("NOTICE 0 azure");
		expect(reply("ACK", 2)).toEqual(ready);
		expect(reply("ACK", 1)).toEqual(acknowledged(1));
	});

	it("P12 an earlier deadline leaves what was said of the notice before it", async () => {
		await start(1);
		notice(GOING);
		notice({ ...GOING, deadline: 0 });
		expect(reply("ACK", 2)).toEqual(ready);
	});
});

describe("the start of a round's workers on a node where a spawn takes long", () => {
	beforeEach(() => {
		spawnMs = 1_000;
	});

	it("B3 lets all else have its turn in between, so that the lease does not lapse", async () => {
		const started = start(6);
		expect(spawned).toEqual([0]);
		await started;
		await clock.advance(60_000);
		expect(spawned).toEqual([0, 1, 2, 3, 4, 5]);
		expect(told).toEqual([[100, 101, 102, 103, 104, 105]]);
		expect(logged).toEqual([]);
		expect(kinds()).toEqual(spawned.map((rank) => `worker-started ${rank}`));
	});

	it("B3 starts no more of them when the lease was lost meanwhile", async () => {
		const started = start(6);
		hasLease = false;
		await started;
		expect(spawned).toEqual([0]);
		group.terminate([0, 1, 2, 3, 4, 5]);
		expect(told).toEqual([[100, 0, 0, 0, 0, 0]]);
		await clock.advance(60_000);
		expect(spawned).toEqual([0]);
		expect(
			kinds().filter((kind) => kind.startsWith("worker-gone")),
		).toHaveLength(5);
	});
});

describe("the start of a round's workers on a node that lacks something", () => {
	/** As writing to a full disk fails, below what the channel says of it. */
	const noRoom = (code: string) => {
		const cause = Object.assign(new Error(`${code}: no room`), { code });
		return new ElasticRunError("CHANNEL", "make room there", { cause });
	};

	it("is tried again until there is enough of it, and no failure is dispatched", async () => {
		unspawned.set(0, SHORT).set(1, SHORT);
		await start(3);
		expect(kinds()).toEqual(["worker-started 2"]);
		expect(logged).toEqual([
			"rank 0 cannot be started: raise ulimit -u; the start is tried again in 0.25 s, for at most 20 s more",
		]);
		unspawned.delete(1);
		await clock.advance(250);
		expect(logged.slice(1)).toEqual([
			"round 1: started 1 more",
			expect.stringContaining("is tried again in 0.5 s"),
		]);
		unspawned.delete(0);
		await clock.advance(500);
		expect(kinds()).toEqual([2, 1, 0].map((rank) => `worker-started ${rank}`));
		expect(done.filter((one) => one === "listen")).toHaveLength(3);
		expect(clock.nextAlarm).toBeUndefined();
	});

	it("is this node's problem after 20 s, dispatched once", async () => {
		unspawned.set(0, { code: "EMFILE", message: "none left" });
		await start(1);
		await clock.advance(19_999);
		expect(kinds()).toEqual([]);
		await clock.advance(1);
		const message = "none left (tried again for 20 s)";
		expect(inputs).toEqual([
			{
				kind: "worker-not-started",
				localRank: 0,
				problem: { code: "EMFILE", message },
			},
			{ kind: "worker-gone", localRank: 0 },
		]);
		expect(logged).toHaveLength(9);
		expect(clock.nextAlarm).toBeUndefined();
	});

	it.each([
		["ENOSPC"],
		["EDQUOT"],
	])("%s while a worker's files are made is waited for", async (code) => {
		unprepared.set(1, noRoom(code));
		await start(3);
		expect(spawned).toEqual([0]);
		expect(logged[0]).toMatch(/^rank 1 cannot be started: make room there;/);
		unprepared.delete(1);
		await clock.advance(250);
		expect(spawned).toEqual([0, 1, 2]);
	});

	it.each([
		["a file system that is read-only", noRoom("EROFS")],
		["a bug", new Error("no")],
	])("%s is dispatched at once", async (_, error) => {
		unprepared.set(0, error);
		await start(2);
		expect(inputs[0]).toMatchObject({ problem: { code: "UNPREPARED" } });
		expect(kinds()).toEqual([
			...["worker-not-started 0", "worker-gone 0", "worker-gone 1"],
		]);
		expect(logged).toEqual([]);
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
		expect(kinds().filter((kind) => kind === "worker-gone 0")).toHaveLength(1);
		expect(spawned).toEqual([]);
		expect(clock.nextAlarm).toBeUndefined();
	});

	it("starts none without a lease, also if only this start finds its loss (seeds 3519, 44188)", async () => {
		unspawned.set(0, SHORT);
		await start(1);
		hasLease = false;
		unspawned.clear();
		await clock.advance(20_000);
		expect(spawned).toEqual([]);
		group.terminate([0]);
		expect(kinds()).toEqual(["worker-gone 0"]);
	});
});
