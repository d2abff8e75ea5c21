import type {
	WorkerHandle,
	WorkerListener,
	WorkerSpawner,
	WorkerSpec,
} from "../../src/agent/supervision/worker.js";
import type { PreparedWorker } from "../../src/agent/worker-member.js";
import type { WorkerInfo } from "../../src/channel/events.js";
import type { RoundRecord } from "../../src/rendezvous/records.js";
import type { WorkerHistory } from "./history.js";
import type { SimMachine } from "./sim-machine.js";
import type { SimProcess } from "./sim-process.js";
import { SimWorker } from "./sim-worker.js";

interface Place {
	readonly info: WorkerInfo;
	readonly round: RoundRecord;
}

/** Starts simulated workers for one agent process, and ends them when that process is dead. */
export class SimSpawner implements WorkerSpawner {
	private readonly living = new Set<SimWorker>();
	/** Where the next workers are to work, by local rank. */
	private readonly places = new Map<number, Place>();

	constructor(
		private readonly machine: SimMachine,
		private readonly process: SimProcess,
	) {}

	prepare(info: WorkerInfo, round: RoundRecord): PreparedWorker {
		const { localRank } = info;
		this.places.set(localRank, { info, round });
		return {
			spec: {
				...{ localRank, file: "/train", args: [], cwd: "/", env: {} },
				...{ stdout: 1, stderr: 2 },
			},
			directory: "/channel",
			tell: () => {},
			moved: () => {},
			release: () => {},
			readError: () => undefined,
			discard: () => {},
		};
	}

	spawn(spec: WorkerSpec, listener: WorkerListener): WorkerHandle {
		const { machine, process } = this;
		const place = this.places.get(spec.localRank);
		if (place === undefined) throw new Error("a worker without a place");
		const habits = machine.habits();
		if (machine.random.chance(habits.cannotStart)) {
			return this.refuse(listener);
		}
		const record = this.recordOf(spec.localRank, place);
		machine.history.workers.push(record);
		const worker = new SimWorker(machine, process, record, habits, listener);
		this.living.add(worker);
		worker.onGone = () => this.living.delete(worker);
		return worker;
	}

	private recordOf(localRank: number, { info, round }: Place): WorkerHistory {
		const { machine, process } = this;
		return {
			pid: 1000 + machine.history.workers.length,
			process: process.history,
			startedAt: machine.timeline.now,
			endedAt: null,
			leaderEndedAt: null,
			instance: round.instance,
			rounds: [info.round],
			localRank,
			rank: info.rank,
			groupRank: info.groupRank,
			roleRank: info.roleRank,
			worldSize: info.worldSize,
			roleWorldSize: info.roleWorldSize,
			masterAddr: info.masterAddr,
			masterPort: info.masterPort,
			roundWasLeft: round.deprecated >= round.synced,
			stuckAt: null,
			failed: false,
			succeeded: false,
		};
	}

	/** What the guard does when the agent's process is gone. */
	killAll(): void {
		for (const worker of this.living) worker.signal("SIGKILL");
	}

	/** One of its workers fails now. */
	failOne(): void {
		this.machine.random.pick([...this.living])?.fail();
	}

	private refuse(listener: WorkerListener): WorkerHandle {
		const { timeline } = this.machine;
		const problem = {
			code: "EAGAIN",
			message: "no more processes: raise the limit (ulimit -u)",
		};
		timeline.after(1, () =>
			this.process.deliver(() => {
				listener.spawnFailed(problem);
				listener.gone();
			}),
		);
		return { pid: undefined, signal: () => {} };
	}
}
