import type { ReceivedReply, WorkerReply } from "../../src/channel/events.js";
import type { OutgoingEvent } from "../../src/channel/worker-channel.js";
import type { SimMachine } from "./sim-machine.js";
import type { SimProcess } from "./sim-process.js";
import type { Stint, WorkerHistory } from "./worker-history.js";

/** The usual way of a file's notification, and that where a slow poll has to find it, in milliseconds. */
const NOTICED_MS = { least: 1, most: 40 };
const POLLED_MS = 1_000;
const POLLED_PART = 0.05;

/** Who receives what stands in a channel. */
export interface ChannelEnd {
	receive(event: OutgoingEvent, sequence: number): void;
}

/** One worker's channel: what is said in it arrives late, and in order; the disk may not take it. */
export class SimChannel {
	end: ChannelEnd | undefined;
	private record: WorkerHistory | undefined;
	/** The first event is there before the worker is. */
	private events = 1;
	private readonly notices: number[] = [];
	private replies = 0;
	private arrivesAt = 0;
	private heardAt = 0;

	constructor(
		readonly directory: string,
		private readonly machine: SimMachine,
		private readonly process: SimProcess,
		private readonly hear: (directory: string, reply: ReceivedReply) => void,
	) {}

	/** The worker has been spawned, with its first event. */
	open(record: WorkerHistory, end: ChannelEnd): void {
		this.record = record;
		this.end = end;
	}

	/** Throws where the disk does not take it. */
	tell(event: OutgoingEvent): void {
		const { machine } = this;
		const { timeline, random } = machine;
		const record = this.record;
		if (record === undefined) return;
		const { now } = timeline;
		if (random.chance(machine.habits().diskFull)) {
			record.untoldAt = now;
			throw new Error("no space left on the channel's device");
		}
		this.events += 1;
		const sequence = this.events;
		noteTold(record, event, now);
		machine.say(
			this.process.history.incarnation,
			`tells worker ${record.pid}: ${event.kind} (round ${event.round}, ${event.changeEvent})`,
		);
		this.arrivesAt = Math.max(this.arrivesAt, now + this.way());
		timeline.at(this.arrivesAt, () => this.end?.receive(event, sequence));
	}

	/** A notice, which half of these workers acknowledge. Returns its sequence. */
	notify(): number {
		const { timeline, random } = this.machine;
		this.events += 1;
		const sequence = this.events;
		this.notices.push(sequence);
		if (random.chance(0.5)) {
			const saved = timeline.now + this.way() + random.between(0, 8_000);
			timeline.at(saved, () => {
				if (this.end !== undefined) this.say({ kind: "ACK", event: sequence });
			});
		}
		return sequence;
	}

	/** What the worker says. */
	say(reply: WorkerReply): void {
		const { timeline } = this.machine;
		this.replies += 1;
		const numbered = { ...reply, sequence: this.replies, timestamp: 0 };
		this.note(reply);
		this.heardAt = Math.max(this.heardAt, timeline.now + this.way());
		timeline.at(this.heardAt, () =>
			this.process.deliver(() => this.hear(this.directory, numbered)),
		);
	}

	private note(reply: WorkerReply): void {
		const record = this.record;
		if (record === undefined) return;
		const { now } = this.machine.timeline;
		if (reply.kind === "HELLO") record.greetedAt = now;
		if (reply.kind === "WAITING") record.waited.push(now);
		if (reply.kind !== "ACK" || this.notices.includes(reply.event)) return;
		const before = this.notices.filter((notice) => notice < reply.event).length;
		for (const told of record.told.slice(0, reply.event - before)) {
			told.acknowledgedAt ??= now;
		}
	}

	private way(): number {
		const { random } = this.machine;
		const most = random.chance(POLLED_PART) ? POLLED_MS : NOTICED_MS.most;
		return random.between(NOTICED_MS.least, most);
	}
}

/** Writes down an event: a PAUSE ends a stint, a WORK begins one. */
export function noteTold(
	record: WorkerHistory,
	{ kind, changeEvent, instance, round, workerInfo }: OutgoingEvent,
	at: number,
): void {
	const acknowledgedAt = null;
	record.told.push({
		...{ at, kind, change: changeEvent, instance, round, acknowledgedAt },
	});
	const newest = record.stints.at(-1);
	if (kind === "PAUSE") {
		if (newest !== undefined) newest.pausedAt ??= at;
		return;
	}
	const { rank, groupRank, roleRank, worldSize, roleWorldSize } = workerInfo;
	const { masterAddr, masterPort } = workerInfo;
	const stint: Stint = {
		...{ worker: record, from: at, pausedAt: null, instance, round },
		...{ rank, groupRank, roleRank, worldSize, roleWorldSize },
		...{ masterAddr, masterPort, roundWasLeft: false },
	};
	record.stints.push(stint);
}
