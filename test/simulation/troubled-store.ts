import type { RunKeys } from "../../src/rendezvous/records/keys.js";
import type { History } from "./history.js";
import type { Observer } from "./observer.js";
import type { SimEtcd } from "./sim-etcd.js";
import type { Situation } from "./situations.js";
import type { Timeline } from "./timeline.js";

interface TroubledStoreOptions {
	readonly etcd: SimEtcd;
	readonly timeline: Timeline;
	readonly history: History;
	readonly keys: RunKeys;
	readonly observer: Observer;
	readonly say: (what: string) => void;
	readonly note: (situation: Situation) => void;
	/** Every agent is disturbed for so long. */
	readonly onTrouble: (durationMs: number) => void;
}

/** The bad hours of the store that all agents share, one at a time: what comes meanwhile is left out. */
export class TroubledStore {
	private isBusy = false;

	constructor(private readonly options: TroubledStoreOptions) {}

	/** kill -9, and a new process on the same data after this time. */
	restart(downMs: number): void {
		const { etcd, note } = this.options;
		this.suffer("is killed, and started again", downMs, {
			begin: () => etcd.stop(),
			end: () => {
				note("a restart of the store extends leases");
				etcd.start();
			},
		});
	}

	/** SIGSTOP until SIGCONT. */
	freeze(durationMs: number): void {
		const { etcd } = this.options;
		this.suffer("is frozen", durationMs, {
			begin: () => etcd.hang(),
			end: () => etcd.goOn(),
		});
	}

	/** A cluster without a leader: nothing is answered, and the new leader gives leases their whole time. */
	loseLeader(durationMs: number): void {
		const { etcd } = this.options;
		this.suffer("has no leader", durationMs, {
			begin: () => etcd.hang(),
			end: () => {
				etcd.extendLeases();
				etcd.goOn();
			},
		});
	}

	/** Its data are gone: a new cluster under the old address after this time. */
	wipe(downMs: number): void {
		const { etcd, history, observer, timeline, note } = this.options;
		this.suffer("loses its data", downMs, {
			begin: () => {
				observer.taken(etcd.data.snapshot(["/"]).entries.values());
				history.wipes.push(timeline.now);
				note("the store is emptied under living agents");
				etcd.stop();
			},
			end: () => etcd.startEmpty(),
		});
	}

	/** Sets it up again from a copy that is so old by then. */
	restoreCopy(ageMs: number, downMs: number): void {
		const { etcd, history, observer, timeline } = this.options;
		const copy = etcd.copy();
		timeline.after(ageMs, () =>
			this.suffer("is set up from an older copy", downMs, {
				begin: () => {
					history.restored ??= timeline.now;
					history.wipes.push(timeline.now);
					etcd.stop();
				},
				end: () => {
					observer.restored(etcd.data.snapshot(["/"]), copy.data);
					etcd.startFrom(copy);
				},
			}),
		);
	}

	/** Watches that are behind are cancelled. */
	compact(): void {
		this.options.say("is compacted");
		this.options.etcd.breakStreams();
	}

	deleteCoordinator(): void {
		this.delete([this.options.keys.coordinator]);
	}

	deleteRecord(nodeId: string): void {
		this.delete([this.options.keys.node(nodeId)]);
	}

	/** Somebody's hand deletes all of the run's keys. */
	deleteRun(): void {
		const { history, timeline, keys, etcd } = this.options;
		if (!etcd.serves) return;
		history.wipes.push(timeline.now);
		this.delete([...etcd.data.snapshot([keys.prefix]).entries.keys()]);
	}

	private delete(keys: readonly string[]): void {
		const { etcd, observer, say } = this.options;
		const present = keys.flatMap((key) => etcd.data.get(key) ?? []);
		if (present.length === 0 || !etcd.serves) return;
		say(`somebody deletes ${present.map(({ key }) => key).join(", ")}`);
		observer.taken(present);
		etcd.data.delete(keys);
	}

	private suffer(
		what: string,
		durationMs: number,
		{ begin, end }: { begin: () => void; end: () => void },
	): void {
		if (this.isBusy) return;
		this.isBusy = true;
		const { timeline, say, onTrouble } = this.options;
		say(`${what}, for ${Math.round(durationMs)} ms`);
		onTrouble(durationMs);
		begin();
		timeline.after(durationMs, () => {
			this.isBusy = false;
			say("serves again");
			end();
		});
	}
}
