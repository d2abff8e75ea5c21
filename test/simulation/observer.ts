import type { RunKeys } from "../../src/rendezvous/records/keys.js";
import { decodeRecord } from "../../src/rendezvous/records/record-codec.js";
import {
	NODE,
	type NodeRecord,
	ROUND,
} from "../../src/rendezvous/records/records.js";
import type {
	Compare,
	Entry,
	LeaseId,
	Snapshot,
	Write,
} from "../../src/store/store.js";
import type { EtcdData } from "./etcd-data.js";
import type { History, ProcessHistory } from "./history.js";
import { coordinatorOf, readRound } from "./read-round.js";
import type { ServerObserver } from "./sim-etcd.js";
import type { Situation } from "./situations.js";
import type { Timeline } from "./timeline.js";

/** A moment of a run at which a fault may strike. */
export type Moment = "write" | "left" | "lifted";

interface ObserverOptions {
	readonly timeline: Timeline;
	readonly history: History;
	readonly keys: RunKeys;
	readonly say: (who: string, what: string) => void;
	readonly note: (situation: Situation) => void;
	/** The coordinator has written something, or a round has been left or lifted by it. */
	readonly onMoment: (moment: Moment, by: string) => void;
}

/** Writes down what the store has seen. */
export class Observer implements ServerObserver {
	constructor(private readonly options: ObserverOptions) {}

	transaction(
		by: string,
		compares: readonly Compare[],
		writes: readonly Write[],
		data: EtcdData,
	): (succeeded: boolean) => void {
		const { keys, note, onMoment } = this.options;
		const coordinator = coordinatorOf(data.get(keys.coordinator));
		const asCoordinator = compares.some(
			(compare) =>
				compare.key === keys.coordinator &&
				"createRevision" in compare &&
				compare.createRevision > 0,
		);
		const present = new Map(
			writes.flatMap((write) => {
				const entry = "put" in write ? data.get(write.put) : undefined;
				return entry ? [[entry.key, entry] as const] : [];
			}),
		);
		const round = data.get(keys.round);
		return (succeeded) => {
			if (asCoordinator && coordinator !== by) {
				note("a deposed coordinator writes, and is refused");
			}
			if (!succeeded) return;
			this.noteWrites(by, writes);
			this.noteUsurpation(by, coordinator, writes);
			this.noteRecords(by, writes, present, round);
			this.noteElection(by, writes);
			const commits = writes.some(
				(write) => "put" in write && write.put === keys.round,
			);
			if (commits) this.noteCommit(by, data, round);
			const seats = writes.some(
				(write) => "put" in write && write.put.startsWith(keys.seats),
			);
			if (seats && !commits) note("a lift takes several transactions");
			if (asCoordinator) onMoment("write", by);
		};
	}

	leaseEnds(id: LeaseId, by: string | undefined, held: readonly Entry[]): void {
		const { keys, say, timeline, note } = this.options;
		for (const entry of held) {
			if (!entry.key.startsWith(keys.nodes)) continue;
			const holder = this.process(decodeRecord(NODE, entry).incarnation);
			say("store", `the record of ${holder.nodeId} vanishes with ${id}`);
			holder.recordGone.push(timeline.now);
			this.noteRecord(holder.nodeId, null);
			this.noteIntrusion(by, holder);
			if (by === undefined && holder.endedAt === null) {
				note("a lease lapses while its agent lives");
			}
		}
	}

	/** Somebody's hand has deleted these. */
	taken(entries: Iterable<Entry>): void {
		const { keys, timeline } = this.options;
		for (const entry of entries) {
			if (!entry.key.startsWith(keys.nodes)) continue;
			const holder = this.process(decodeRecord(NODE, entry).incarnation);
			holder.recordTaken.push(timeline.now);
			this.noteRecord(holder.nodeId, null);
		}
	}

	/** The store holds an older copy of itself. */
	restored(before: Snapshot, copy: Snapshot): void {
		const { keys, timeline } = this.options;
		const { nodes } = keys;
		for (const { key } of before.entries.values()) {
			if (!key.startsWith(nodes) || copy.entries.has(key)) continue;
			this.noteRecord(key.slice(nodes.length), null);
		}
		for (const entry of copy.entries.values()) {
			if (!entry.key.startsWith(nodes)) continue;
			const record = decodeRecord(NODE, entry);
			this.process(record.incarnation).recordMade.push(timeline.now);
			this.noteRecord(record.nodeId, record);
		}
	}

	private noteWrites(by: string, writes: readonly Write[]): void {
		const { history, timeline } = this.options;
		for (const write of writes) {
			history.written.push({ at: timeline.now, by, write });
		}
	}

	private process(incarnation: string): ProcessHistory {
		const found = this.options.history.processes.find(
			(process) => process.incarnation === incarnation,
		);
		if (found === undefined) throw new Error(`nobody is ${incarnation}`);
		return found;
	}

	private noteRecord(nodeId: string, record: NodeRecord | null): void {
		const { history, timeline } = this.options;
		history.records.push({ at: timeline.now, nodeId, record });
	}

	/** Seats, budgets and the round are the coordinator's to write; only a new start is anybody's. */
	private noteUsurpation(
		by: string,
		coordinator: string | null,
		writes: readonly Write[],
	): void {
		const { keys, history, timeline } = this.options;
		const touched = writes.map((write) =>
			"put" in write ? write.put : write.delete,
		);
		if (touched.includes(keys.spec)) return;
		const own = [keys.nodes, keys.finished, keys.left, keys.coordinator];
		const key = touched.find(
			(name) => !own.some((part) => name.startsWith(part)),
		);
		if (key === undefined || coordinator === by) return;
		history.usurpations.push({ at: timeline.now, by, coordinator, key });
	}

	/** Whose records these writes make or change. */
	private noteRecords(
		by: string,
		writes: readonly Write[],
		present: ReadonlyMap<string, Entry>,
		round: Entry | undefined,
	): void {
		const { keys, timeline } = this.options;
		for (const write of writes) {
			if (!("put" in write) || !write.put.startsWith(keys.nodes)) continue;
			const record: NodeRecord = JSON.parse(write.value);
			const entry = present.get(write.put);
			const author = record.incarnation;
			const writer = this.process(author);
			const isRelayed = author !== by;
			// What is said again under a new lease may be out of date, and is then mended.
			const isAgain =
				writer.lossesTold.length > 0 || writer.recordGone.length > 0;
			if (!isAgain) this.noteClaim(author, record, round);
			const holder = entry && decodeRecord(NODE, entry).incarnation;
			if (holder !== undefined) {
				this.noteIntrusion(author, this.process(holder));
			} else if (isRelayed) this.noteIntrusion(by, writer);
			else this.noteReplacement(writer);
			if (holder !== author) writer.recordMade.push(timeline.now);
			this.noteRecord(record.nodeId, record);
		}
	}

	private noteElection(by: string, writes: readonly Write[]): void {
		const { keys, timeline } = this.options;
		const isElected = writes.some(
			(write) => "put" in write && write.put === keys.coordinator,
		);
		if (isElected) this.process(by).elected.push(timeline.now);
	}

	private noteClaim(
		by: string,
		{ claim, state, instance }: NodeRecord,
		round: Entry | undefined,
	): void {
		if (round === undefined || state !== "ready") return;
		const { history, timeline } = this.options;
		const { instance: present, synced } = decodeRecord(ROUND, round);
		if (instance !== present || claim > synced) return;
		history.staleClaims.push({ at: timeline.now, by, claim, synced });
	}

	private noteIntrusion(by: string | undefined, of: ProcessHistory): void {
		if (by === undefined || by === of.incarnation) return;
		const { history, timeline } = this.options;
		history.intrusions.push({ at: timeline.now, by, of });
	}

	private noteReplacement(by: ProcessHistory): void {
		const { history, timeline, note } = this.options;
		const replaces = history.processes.some(
			({ nodeId, incarnation, endedAt, frozen }) =>
				nodeId === by.nodeId &&
				incarnation !== by.incarnation &&
				endedAt === null &&
				frozen.some(({ to }) => to >= timeline.now),
		);
		if (replaces) note("a replacement takes the node id of a frozen process");
	}

	private noteCommit(
		by: string,
		data: EtcdData,
		previous: Entry | undefined,
	): void {
		const { keys, history, timeline, say, onMoment } = this.options;
		const shown = readRound(data, keys);
		if (shown === undefined) return;
		const { round } = shown;
		const wipes = history.wipes.length;
		history.commits.push({ ...shown, at: timeline.now, by, wipes });
		const ending = round.outcome ? `, outcome ${round.outcome.result}` : "";
		say(
			"store",
			`round: synced ${round.synced}, deprecated ${round.deprecated}, incidents ${round.incidents}${ending}`,
		);
		const before = previous && decodeRecord(ROUND, previous);
		if (before?.instance !== round.instance) return;
		if (round.synced > before.synced) onMoment("lifted", by);
		if (round.deprecated > before.deprecated) onMoment("left", by);
	}
}
