import { isHopeless, isUnreachable, pause, retry } from "../base/back-off.js";
import { messageOf } from "../base/errors.js";
import { formatCount } from "../base/units.js";
import { plainMessage } from "../logs/index.js";
import {
	ALL_RUNS,
	onceEach,
	openStore,
	RunKeys,
	type Warn,
} from "../rendezvous/index.js";
import type { FoundRun, RunDocument } from "../status/index.js";
import type { Snapshot, Store, Watch } from "../store/index.js";
import {
	describeAll,
	describeOne,
	findRun,
	findRuns,
	patienceWith,
	type Searcher,
} from "./found-runs.js";
import type { RunPlaces } from "./run-request.js";

/** How often to look at runs of this machine and refresh the display, in milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** Changes so close together are shown once. */
const REST_MS = 100;

interface WatchOptions {
	/** Undefined: all runs. */
	readonly runId: string | undefined;
	readonly places: RunPlaces;
	readonly searcher: Searcher;
	/** Called about once a second, and soon after each change. Returns whether to continue. */
	readonly onLook: (found: readonly FoundRun[]) => boolean;
	/** Called with passing problems, such as a store that does not answer, and with what is unreadable. */
	readonly warn: Warn;
}

/**
 * Looks at runs repeatedly; resolves when `onLook` returns false.
 * @throws ElasticRunError as `findRun` does, at the first look
 */
export async function watchRuns(options: WatchOptions): Promise<void> {
	const { searcher, onLook, warn } = options;
	const looker = await openLooker({ ...options, warn: onceEach(warn) });
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
	/** Resolves after a change of the store, or a second later. */
	changed(): Promise<void>;
	close(): Promise<void>;
}

/** Keeps a store open; reads this machine's runs each time. */
async function openLooker(options: WatchOptions): Promise<Looker> {
	const { runId, places, searcher } = options;
	const { clock } = searcher;
	const { store, local, isStoreAssumed } = places;
	const here = lookHere(options);
	if (store === undefined || (runId === undefined && isStoreAssumed)) {
		return here;
	}
	const there = new StoreLooker(
		await openStore(store, { clock, random: () => 0 }),
		store.endpoints.join(","),
		patienceWith(store),
		options,
	);
	return local && runId !== undefined ? new EitherLooker(here, there) : there;
}

function lookHere({ runId, places, searcher, warn }: WatchOptions): Looker {
	const here = { ...places, store: undefined };
	return {
		look: () =>
			runId === undefined
				? findRuns(here, searcher, warn)
				: findRun(runId, here, searcher, warn),
		changed: () => pause(searcher.clock, LOOK_EVERY_MS),
		close: async () => {},
	};
}

/** Looks for one run on this machine and in a store that was not named, until it is found in one of them. */
class EitherLooker implements Looker {
	private found: Looker | undefined;

	constructor(
		private readonly here: Looker,
		private readonly there: Looker,
	) {}

	async look(): Promise<readonly FoundRun[]> {
		if (this.found !== undefined) return this.found.look();
		for (const looker of [this.here, this.there]) {
			const found = await lookIfPossible(looker);
			if (found.length === 0) continue;
			this.found = looker;
			return found;
		}
		return [];
	}

	changed(): Promise<void> {
		return (this.found ?? this.here).changed();
	}

	close(): Promise<void> {
		return this.there.close();
	}
}

/** A store that was not named may be missing. */
async function lookIfPossible(looker: Looker): Promise<readonly FoundRun[]> {
	try {
		return await looker.look();
	} catch (error) {
		if (!isUnreachable(error) || isHopeless(error)) throw error;
		return [];
	}
}

class StoreLooker implements Looker {
	private readonly selector: string;
	private known: Snapshot | undefined;
	private watch: Watch | undefined;
	private hinted = false;
	private wake: () => void = () => {};

	constructor(
		private readonly store: Store,
		private readonly place: string,
		private readonly patienceMs: number,
		private readonly options: WatchOptions,
	) {
		const { runId } = options;
		this.selector = runId === undefined ? ALL_RUNS : new RunKeys(runId).prefix;
	}

	async look(): Promise<readonly FoundRun[]> {
		const { runId, searcher, warn } = this.options;
		const { clock } = searcher;
		this.hinted = false;
		const until = clock.now() + this.patienceMs;
		const snapshot = await retry({ clock, random: () => 0, until }, () =>
			this.store.snapshot([this.selector], this.known),
		);
		this.known = snapshot;
		this.watch ??= this.store.watch([this.selector], snapshot.revision, () => {
			this.hinted = true;
			this.wake();
		});
		return runId === undefined
			? describeAll(snapshot, this.place, searcher, warn).runs
			: describeOne(runId, snapshot, this.place, searcher, warn);
	}

	changed(): Promise<void> {
		const { clock } = this.options.searcher;
		if (this.hinted) return Promise.resolve();
		return new Promise((resolve) => {
			const cancel = clock.wakeAt(clock.now() + LOOK_EVERY_MS, resolve);
			this.wake = () => {
				cancel();
				resolve();
			};
		});
	}

	async close(): Promise<void> {
		this.watch?.close();
		await this.store.close();
	}
}

/** The time left of a wait changes all the time, and is no news. */
const TIME_LEFT = /; \d+ s left$/;

/** A run's state in one line, which changes only with the state. */
export function watchLine(status: RunDocument): string {
	return plainMessage(`run ${status.runId}: ${standing(status)}`);
}

function standing(status: RunDocument): string {
	const { phase, outcome, round, waiting, nodes, lastIncident } = status;
	switch (phase) {
		case "ended":
			return outcome === null
				? "ended"
				: `${outcome.result}: ${outcome.reason}`;
		case "abandoned":
			return "not ended, but has no agents";
		case "running": {
			const spares = nodes.filter(({ part }) => part === "spare").length;
			const world = status.world
				? `: ${formatCount(status.world.worldSize, "worker")} on ${formatCount(status.world.groupWorldSize, "node")}`
				: "";
			const more = spares > 0 ? `, ${formatCount(spares, "spare")}` : "";
			const wait = waiting ? `; ${waiting.words.replace(TIME_LEFT, "")}` : "";
			return `round ${round} runs${world}${more}${wait}`;
		}
		case "forming":
		case "waiting":
			return waiting?.words.replace(TIME_LEFT, "") ?? "between two rounds";
		case "leaving": {
			const cause =
				lastIncident?.round === round ? `: ${lastIncident.reason}` : "";
			return `round ${round} is being left${cause}`;
		}
		default:
			return phase satisfies never;
	}
}

/** The same as JSON without what changes all the time: equal texts mean equal states. */
export function fingerprint({ status, place }: FoundRun): string {
	const { waiting, ...others } = status;
	const missing = waiting && [waiting.missing, waiting.needed];
	return JSON.stringify([place, others, missing]);
}
