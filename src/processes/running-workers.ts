import type { Clock } from "../base/clock.js";
import type { Escapees } from "./escapees.js";
import { GroupWatch } from "./group-watch.js";
import type { WorkerHandle, WorkerListener } from "./worker.js";
import {
	type GroupRegistry,
	WorkerProcess,
	type WorkerProcessOptions,
} from "./worker-process.js";

export interface RunningWorkersOptions {
	readonly clock: Clock;
	/** The guard: knows each process group from its spawn until it is empty. */
	readonly registry: GroupRegistry;
	/** Ends processes that left their groups, after the last worker and before its end is reported. */
	readonly escapees?: Escapees;
	/** Receives a message about processes that this agent may not end. */
	readonly warn: (message: string) => void;
}

/** The workers that were started, however, and are not gone. */
export class RunningWorkers {
	private readonly groups: GroupWatch;
	private count = 0;

	constructor(private readonly options: RunningWorkersOptions) {
		this.groups = new GroupWatch(options.clock);
	}

	follow(
		process: Pick<
			WorkerProcessOptions,
			"child" | "pid" | "parentId" | "startedAt"
		>,
		listener: WorkerListener,
		start: "warm" | "cold" = "cold",
	): WorkerHandle {
		const { clock, registry, escapees, warn } = this.options;
		this.count += 1;
		const worker = new WorkerProcess({
			...process,
			clock,
			registry,
			warn,
			groups: this.groups,
			listener: { ...listener, gone: () => this.gone(listener) },
		});
		return {
			pid: worker.pid,
			start,
			signal(signal) {
				worker.signal(signal);
				if (signal === "SIGKILL") escapees?.kill();
			},
			passOn: (signal) => worker.passOn(signal),
		};
	}

	private gone(listener: WorkerListener): void {
		const { escapees } = this.options;
		this.count -= 1;
		if (this.count > 0 || escapees === undefined) listener.gone();
		else escapees.end(() => listener.gone());
	}
}
