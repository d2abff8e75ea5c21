import type { Clock } from "../../base/clock.js";
import type { ReceivedReply } from "../../channel/events.js";
import { channelPaths, hookPaths } from "../../channel/layout.js";
import { Arrivals } from "../../progress/arrivals.js";
import { stepRate, type WorkerSteps } from "../../progress/steps.js";
import { WorkerReader } from "../../progress/worker-reader.js";
import type { WorkerProgress } from "../../rendezvous/records/progress-record.js";
import type { WorkerProcess } from "../workers/worker-member.js";

/** A reader of the steps of each worker process. */
export class WorkerReaders {
	/** By channel directory: no two processes have the same. */
	private readonly readers = new Map<string, WorkerReader>();
	private readonly arrivals = new Arrivals();

	constructor(
		private readonly pattern: RegExp,
		/** Called with each new step of the process that has this channel. */
		private readonly onStep: (directory: string, steps: WorkerSteps) => void,
	) {}

	/** When the newest step of any of them came; undefined if none has. */
	get newestStepAt(): number | undefined {
		const readers = [...this.readers.values()];
		const times = readers.flatMap(({ steps }) => steps?.at ?? []);
		return times.length === 0 ? undefined : Math.max(...times);
	}

	/** The reader of this process, made if it is new. */
	of({ directory, logs }: WorkerProcess): WorkerReader {
		const known = this.readers.get(directory);
		const streams = [logs?.stdout, logs?.stderr];
		const reader =
			known ??
			new WorkerReader({
				pattern: this.pattern,
				hookFile: hookPaths(channelPaths(directory).hook).steps,
				outputs: streams.flatMap((stream) => stream ?? []),
				onStep: (steps) => this.onStep(directory, steps),
			});
		this.readers.set(directory, reader);
		return reader;
	}

	/** Takes a report of this process; `now` on the agent's steady clock. */
	heard(
		process: WorkerProcess,
		reply: ReceivedReply & { readonly kind: "PROGRESS" },
		now: number,
	): void {
		this.of(process).heard(reply, now);
		if (reply.step === undefined) return;
		this.arrivals.note(process.localRank, reply.step, reply.timestamp);
	}

	/** How far these processes have come in the round; only those that have made a step. */
	progress(
		processes: readonly WorkerProcess[],
		clock: Pick<Clock, "now" | "wallTime">,
	): readonly WorkerProgress[] {
		const now = clock.now();
		const wallTime = clock.wallTime();
		return processes.flatMap((process) => {
			const { steps, pace } = this.of(process);
			if (steps === undefined) return [];
			const { localRank } = process;
			const { step, source, metrics } = steps;
			const stepAt = Math.round(wallTime - (now - steps.at));
			return {
				...{ localRank, step, source, stepAt, metrics },
				rate: stepRate(steps, now),
				pace: pace ?? this.arrivals.paceOf(localRank),
			};
		});
	}

	/** The kept processes go on in another round. */
	beginRound(): void {
		this.arrivals.clear();
		for (const reader of this.readers.values()) reader.beginRound();
	}

	/** Forgets all processes but these. */
	keep(processes: readonly WorkerProcess[]): void {
		const kept = new Set(processes.map(({ directory }) => directory));
		for (const [directory, reader] of this.readers) {
			if (kept.has(directory)) continue;
			reader.close();
			this.readers.delete(directory);
		}
	}
}
