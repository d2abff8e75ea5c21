import { beforeEach, describe, expect, it } from "vitest";
import type { PreparedWorker } from "../../../src/agent/workers/prepared-worker.js";
import { WorkerGroup } from "../../../src/agent/workers/worker-group.js";
import { roundRecord, seatRecord, WORLD } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const NOTHING_DONE = () => {};
const LOCAL_RANKS = [0, 1, 2];
const SEAT = seatRecord("a", { localWorldSize: LOCAL_RANKS.length });

describe("the workers of one node", () => {
	let clock: VirtualClock;
	let done: string[];
	let group: WorkerGroup;

	const prepared = (localRank: number): PreparedWorker => ({
		spec: {
			...{ localRank, file: "worker", args: [], cwd: "/", env: {} },
			...{ stdout: 1, stderr: 2 },
		},
		directory: `worker-${localRank}`,
		tell: ({ kind }) => done.push(`${kind} ${localRank}`),
		notify: () => 0,
		ring: () => done.push(`ring ${localRank}`),
		moved: NOTHING_DONE,
		release: NOTHING_DONE,
		hear: NOTHING_DONE,
		logs: { directory: "", stdout: undefined, stderr: undefined },
		readError: () => undefined,
		readException: () => undefined,
		readLastLines: () => [],
		discard: NOTHING_DONE,
	});

	beforeEach(() => {
		clock = new VirtualClock(0);
		done = [];
		group = new WorkerGroup({
			...{ runId: "r", clock, holdsLease: () => true },
			spawner: {
				spawn: ({ localRank }) => ({
					pid: 100 + localRank,
					signal: NOTHING_DONE,
					passOn: () => true,
				}),
			},
			prepare: ({ localRank }) => prepared(localRank),
			readOomKills: () => undefined,
			onSpawning: NOTHING_DONE,
			onChannels: NOTHING_DONE,
			log: { info: NOTHING_DONE, warn: NOTHING_DONE },
			onStarted: NOTHING_DONE,
			dispatch: NOTHING_DONE,
		});
		group.start(roundRecord({ synced: 1, world: WORLD }), SEAT, new Map());
	});

	it("are told of PAUSE before they are woken, a few at a time, and the last are woken when what comes next in this moment has been done", async () => {
		group.pause(LOCAL_RANKS, { change: "SCALE_DOWN", reason: "b left" });
		done.push("the node is ready");
		expect(done).toEqual([
			...["PAUSE 0", "PAUSE 1", "ring 0", "ring 1"],
			...["PAUSE 2", "the node is ready"],
		]);
		await clock.advance(0);
		expect(done.slice(6)).toEqual(["ring 2"]);
	});

	it("are told of WORK before they are woken, and woken before others are started", () => {
		const kept = new Map([0, 2].map((rank) => [rank, "SCALE_DOWN"] as const));
		group.start(roundRecord({ synced: 2, world: WORLD }), SEAT, kept);
		expect(done).toEqual(["WORK 0", "WORK 2", "ring 0", "ring 2"]);
	});
});
