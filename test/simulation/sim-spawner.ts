import type {
	WorkerFiles,
	Workplace,
} from "../../src/agent/workers/workplace.js";
import type { ReceivedReply, WorkerInfo } from "../../src/channel/events.js";
import type {
	WorkerHandle,
	WorkerListener,
	WorkerSpawner,
	WorkerSpec,
} from "../../src/processes/worker.js";
import type { RoundRecord } from "../../src/rendezvous/records/records.js";
import { noteTold, SimChannel } from "./sim-channel.js";
import type { SimMachine } from "./sim-machine.js";
import type { SimProcess } from "./sim-process.js";
import { SimWorker } from "./sim-worker.js";
import { type WorkerHistory, workerHistoryOf } from "./worker-history.js";

interface Place {
	readonly info: WorkerInfo;
	readonly round: RoundRecord;
	readonly channel: SimChannel;
}

/** Starts simulated workers for one agent process, and ends them when that process is dead. */
export class SimSpawner implements WorkerSpawner, Workplace {
	private readonly living = new Set<SimWorker>();
	private channels = 0;
	/** Where the next workers are to work, by local rank. */
	private readonly places = new Map<number, Place>();

	constructor(
		private readonly machine: SimMachine,
		private readonly process: SimProcess,
		private readonly hear: (directory: string, reply: ReceivedReply) => void,
	) {}

	prepare(info: WorkerInfo, round: RoundRecord): WorkerFiles {
		const { localRank } = info;
		this.channels += 1;
		const directory = `/channel/${this.channels}`;
		const { machine, process } = this;
		const channel = new SimChannel(directory, machine, process, this.hear);
		this.places.set(localRank, { info, round, channel });
		return {
			spec: {
				...{ localRank, file: "/train", args: [], cwd: "/", env: {} },
				...{ stdout: 1, stderr: 2 },
			},
			channel: {
				directory,
				send: (event) => channel.tell(event),
				notify: () => ({ sequence: channel.notify() }),
				ring: () => {},
			},
			output: undefined,
		};
	}

	listen(): void {}
	readReplies(): void {}
	readAllReplies(): void {}
	discard(): void {}

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
		const { channel, info, round } = place;
		const worker = new SimWorker(
			machine,
			process,
			record,
			habits,
			listener,
			channel,
			{ instance: round.instance, round: info.round },
		);
		this.living.add(worker);
		worker.onGone = () => this.living.delete(worker);
		return worker;
	}

	/** A round's workers work: those that were kept as well. */
	started({ instance, synced, deprecated }: RoundRecord): void {
		for (const { record } of this.living) {
			const stint = record.stints.at(-1);
			const isNew = stint?.round === synced && stint.instance === instance;
			if (isNew) stint.roundWasLeft = deprecated >= synced;
		}
	}

	private recordOf(localRank: number, { info, round }: Place): WorkerHistory {
		const { machine, process } = this;
		const { now } = machine.timeline;
		const pid = 1000 + machine.history.workers.length;
		const who = { pid, process: process.history, localRank };
		const record = workerHistoryOf(who, now);
		const { instance } = round;
		noteTold(
			record,
			{
				kind: "WORK",
				workerState: "HEALTHY",
				changeEvent: null,
				...{ instance, round: info.round, reason: "", workerInfo: info },
			},
			now,
		);
		return record;
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
		return { pid: undefined, signal: () => {}, passOn: () => false };
	}
}
