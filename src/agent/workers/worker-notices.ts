import type { NoticeState, ReceivedReply } from "../../channel/events.js";
import type { AgentInput } from "../machine/inputs.js";

/** Why a worker's machine will go; with the source null, it stays. */
export type MachineNotice = Omit<NoticeState, "sequence">;

/** The notices in one worker's channel, which the agent does not count among the events of rounds. */
export class WorkerNotices {
	private readonly sequences: number[] = [];
	/** One that came before the worker's process was prepared. */
	private untold: MachineNotice | undefined;

	/** `write` returns its sequence; undefined: there is no channel yet. */
	tell(
		{ deadline, source, reason }: MachineNotice,
		write: ((notice: MachineNotice) => number) | undefined,
	): void {
		const notice = { deadline, source, reason };
		this.untold = write === undefined ? notice : undefined;
		if (write !== undefined) this.sequences.push(write(notice));
	}

	/** The worker has its channel. */
	tellUntold(write: (notice: MachineNotice) => number): void {
		if (this.untold !== undefined) this.tell(this.untold, write);
	}

	/** The agent's input for a worker's reply; undefined if there is none. */
	inputOf(reply: ReceivedReply, localRank: number): AgentInput | undefined {
		switch (reply.kind) {
			case "HELLO":
				return { kind: "worker-attached", localRank };
			case "ACK":
				return this.acknowledged(reply.event, localRank);
			case "NOTICED":
				return { kind: "worker-noticed", localRank };
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
	private acknowledged(event: number, localRank: number): AgentInput {
		if (this.sequences.includes(event)) {
			return { kind: "worker-ready", localRank };
		}
		const before = this.sequences.filter((notice) => notice < event).length;
		return { kind: "worker-acknowledged", localRank, event: event - before };
	}
}
