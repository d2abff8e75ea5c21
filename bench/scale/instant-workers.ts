import type {
	WorkerExit,
	WorkerHandle,
	WorkerListener,
	WorkerSpawner,
	WorkerSpec,
} from "../../src/processes/worker.js";

let newestPid = 100_000;

/** Workers that run as soon as they are spawned, and are gone when they get a signal. */
export class InstantWorkers implements WorkerSpawner {
	private readonly living = new Map<number, WorkerListener>();

	spawn(_spec: WorkerSpec, listener: WorkerListener): WorkerHandle {
		newestPid += 1;
		const pid = newestPid;
		this.living.set(pid, listener);
		return {
			pid,
			signal: (signal) =>
				this.end(pid, { code: null, signal, signalledByAgent: true }),
			passOn: () => this.living.has(pid),
		};
	}

	/** One of them fails. */
	fail(): void {
		const exit = { code: 1, signal: null, signalledByAgent: false };
		for (const pid of [...this.living.keys()].slice(0, 1)) this.end(pid, exit);
	}

	private end(pid: number, exit: Omit<WorkerExit, "uptimeMs">): void {
		const listener = this.living.get(pid);
		if (listener === undefined) return;
		this.living.delete(pid);
		setImmediate(() => {
			listener.exited({ ...exit, uptimeMs: 1_000 }, false);
			listener.gone();
		});
	}
}
