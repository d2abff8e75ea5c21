import { messageOf } from "../../errors.js";
import { isUnreachable, pause, retry } from "../../rendezvous/back-off.js";
import { ALL_RUNS, RunKeys } from "../../rendezvous/keys.js";
import type { Snapshot, Store, Watch } from "../../rendezvous/store.js";
import { openStore } from "../open-store.js";
import {
	describeAll,
	describeOne,
	type FoundRun,
	findRun,
	findRuns,
	PATIENCE_MS,
	type Searcher,
} from "../status/find-runs.js";
import type { RunPlaces } from "../status/run-request.js";

/** How often runs of this machine are looked at, and what is shown is shown anew, in milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** Changes so close to each other are shown once. */
const REST_MS = 100;

export interface WatchOptions {
	/** Undefined: all runs. */
	readonly runId: string | undefined;
	readonly places: RunPlaces;
	readonly searcher: Searcher;
	/** Told about once a second, and soon after each change. Returns whether there is more to be watched. */
	readonly onLook: (found: readonly FoundRun[]) => boolean;
	/** Told of what passes: a store that does not answer, a run that another version has written. */
	readonly warn: (message: string) => void;
}

/**
 * Looks at runs again and again; resolves when `onLook` says that it is over.
 * @throws ElasticRunError as `findRun` does, at the first look
 */
export async function watchRuns(options: WatchOptions): Promise<void> {
	const { searcher, onLook, warn } = options;
	const looker = await openLooker(options);
	let isSilent = false;
	try {
		for (let isFirst = true; ; isFirst = false) {
			try {
				if (!onLook(await looker.look())) return;
				isSilent = false;
			} catch (error) {
				if (isFirst || !isUnreachable(error)) throw error;
				if (!isSilent) warn(`still trying: ${messageOf(error)}`);
				isSilent = true;
			}
			await looker.changed();
			await pause(searcher.clock, REST_MS);
		}
	} finally {
		await looker.close();
	}
}

interface Looker {
	look(): Promise<readonly FoundRun[]>;
	/** Resolves after a change that is seen at once, or a second later. */
	changed(): Promise<void>;
	close(): Promise<void>;
}

/** A store is kept open; what is on this machine is read anew each time. */
async function openLooker(options: WatchOptions): Promise<Looker> {
	const { runId, places, searcher } = options;
	const { clock } = searcher;
	const { store, isStoreAssumed } = places;
	const here = { ...places, store: undefined };
	const isHere =
		places.local &&
		(runId === undefined
			? isStoreAssumed
			: (await findRun(runId, here, searcher)).length > 0);
	if (store !== undefined && !isHere) {
		const random = () => 0;
		const place = store.endpoints.join(",");
		return new StoreLooker(
			await openStore(store, { clock, random }),
			place,
			options,
		);
	}
	return {
		look: () =>
			runId === undefined
				? findRuns(here, searcher, options.warn)
				: findRun(runId, here, searcher),
		changed: () => pause(clock, LOOK_EVERY_MS),
		close: async () => {},
	};
}

class StoreLooker implements Looker {
	readonly #selector: string;
	#known: Snapshot | undefined;
	#watch: Watch | undefined;
	#hinted = false;
	#wake: () => void = () => {};

	constructor(
		private readonly store: Store,
		private readonly place: string,
		private readonly options: WatchOptions,
	) {
		const { runId } = options;
		this.#selector = runId === undefined ? ALL_RUNS : new RunKeys(runId).prefix;
	}

	async look(): Promise<readonly FoundRun[]> {
		const { runId, searcher, warn } = this.options;
		const { clock } = searcher;
		this.#hinted = false;
		const until = clock.now() + PATIENCE_MS;
		const snapshot = await retry({ clock, random: () => 0, until }, () =>
			this.store.snapshot([this.#selector], this.#known),
		);
		this.#known = snapshot;
		this.#watch ??= this.store.watch(
			[this.#selector],
			snapshot.revision,
			() => {
				this.#hinted = true;
				this.#wake();
			},
		);
		return runId === undefined
			? describeAll(snapshot, this.place, searcher, warn)
			: describeOne(runId, snapshot, this.place, searcher);
	}

	changed(): Promise<void> {
		const { clock } = this.options.searcher;
		if (this.#hinted) return Promise.resolve();
		return new Promise((resolve) => {
			const cancel = clock.wakeAt(clock.now() + LOOK_EVERY_MS, resolve);
			this.#wake = () => {
				cancel();
				resolve();
			};
		});
	}

	async close(): Promise<void> {
		this.#watch?.close();
		await this.store.close();
	}
}
