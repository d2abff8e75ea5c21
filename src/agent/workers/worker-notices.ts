import type { NoticeState, ReceivedReply } from "../../channel/events.js";
import type { AgentInput } from "../machine/inputs.js";

/** Why a worker's machine will go; with the source null, it stays. */
export type MachineNotice = Omit<NoticeState, "sequence">;

/** The notices in one worker's channel, which the agent does not count among the events of rounds. */
export class WorkerNotices {
	private sequences: readonly number[] = [];
	/** The number of the last withdrawal: what is said of notices before it holds no more. */
	private withdrawn = 0;
	private newest: MachineNotice | undefined;

	/** `write` returns its sequence; undefined: there is no channel yet. */
	tell(
		{ deadline, source, reason }: MachineNotice,
		write: ((notice: MachineNotice) => number) | undefined,
	): void {
		const notice = { deadline, source, reason };
		this.newest = notice;
		if (write === undefined) return;
		const sequence = write(notice);
		this.sequences = [...this.sequences, sequence];
		if (source === null) this.withdrawn = sequence;
	}

	/** The worker has a new channel: its first one, or that of another try to start it. */
	begin(write: (notice: MachineNotice) => number): void {
		this.sequences = [];
		this.withdrawn = 0;
		const newest = this.newest;
		if (newest !== undefined && newest.source !== null)
			this.tell(newest, write);
	}

	/** The agent's input for a worker's reply; undefined if there is none. */
	inputOf(reply: ReceivedReply, localRank: number): AgentInput | undefined {
		switch (reply.kind) {
			case "HELLO":
				return { kind: "worker-attached", localRank };
			case "ACK":
				return this.acknowledged(reply.event, localRank);
			case "NOTICED":
				return this.isPast(reply.event)
					? undefined
					: { kind: "worker-noticed", localRank };
			case "WAITING":
				return { kind: "worker-waits", localRank, round: reply.round };
			case "WAITED":
				return { kind: "worker-waits", localRank, round: null };
			case "WORKING":
				return { kind: "worker-works", localRank, round: reply.round };
			case "PROGRESS":
			case "ERROR":
				return undefined;
			default:
				return reply satisfies never;
		}
	}

	/** To acknowledge a notice says that the worker is ready to end, and nothing about the events before it. */
	private acknowledged(
		event: number,
		localRank: number,
	): AgentInput | undefined {
		if (this.sequences.includes(event)) {
			return this.isPast(event)
				? undefined
				: { kind: "worker-ready", localRank };
		}
		const before = this.sequences.filter((notice) => notice < event).length;
		return { kind: "worker-acknowledged", localRank, event: event - before };
	}

	/** Whether that notice was withdrawn: a worker that answers it late is not ready for the next one. */
	private isPast(notice: number): boolean {
		return notice <= this.withdrawn;
	}
}
