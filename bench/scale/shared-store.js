/** So many requests are under way at a time: what waits in this process is not what etcd takes to answer. */
const MOST_UNDER_WAY = 64;

/** One store for all agents of a process, which counts what they ask of it. */
export class SharedStore {
	/** What all agents together have asked for. */
	counts = { looks: 0, writes: 0 };
	/** Told of each agent's record that was written, or was to be. */
	onRecord = () => {};
	#store;
	#free = MOST_UNDER_WAY;
	#waiting = [];

	/** @param {import("../../src/rendezvous/store/etcd/etcd-store.ts").EtcdStore} store */
	constructor(store) {
		this.#store = store;
	}

	get metrics() {
		return this.#store.metrics;
	}

	openLease(ttlMs, onLost) {
		return this.#inTurn(() => this.#store.openLease(ttlMs, onLost));
	}

	endLease(id) {
		return this.#inTurn(() => this.#store.endLease(id));
	}

	snapshot(selectors, known) {
		this.counts.looks += 1;
		return this.#inTurn(() => this.#store.snapshot(selectors, known));
	}

	async transaction(compares, writes, reads) {
		this.counts.writes += 1;
		try {
			return await this.#inTurn(() =>
				this.#store.transaction(compares, writes, reads),
			);
		} finally {
			for (const { put, value } of writes) {
				if (put?.includes("/nodes/")) this.onRecord(JSON.parse(value));
			}
		}
	}

	watch(selectors, afterRevision, onHint) {
		return this.#store.watch(selectors, afterRevision, onHint);
	}

	close() {
		return this.#store.close();
	}

	async #inTurn(call) {
		if (this.#free > 0) this.#free -= 1;
		else await new Promise((resolve) => this.#waiting.push(resolve));
		try {
			return await call();
		} finally {
			const next = this.#waiting.shift();
			if (next === undefined) this.#free += 1;
			else next();
		}
	}
}
