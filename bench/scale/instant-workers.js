let newestPid = 100_000;

/** Workers that run as soon as they are spawned, and are gone when they get a signal. */
export class InstantWorkers {
	#living = new Set();

	/** @returns {import("../../src/supervision/worker.ts").WorkerHandle} */
	spawn(_spec, listener) {
		newestPid += 1;
		const worker = {
			pid: newestPid,
			signal: (signal) =>
				this.#end(worker, { code: null, signal, signalledByAgent: true }),
			fail: () =>
				this.#end(worker, { code: 1, signal: null, signalledByAgent: false }),
			listener,
		};
		this.#living.add(worker);
		return worker;
	}

	/** One of them fails. */
	fail() {
		const [worker] = this.#living;
		worker.fail();
	}

	#end(worker, exit) {
		if (!this.#living.delete(worker)) return;
		setImmediate(() => {
			worker.listener.exited({ ...exit, uptimeMs: 1_000 }, false);
			worker.listener.gone();
		});
	}
}
