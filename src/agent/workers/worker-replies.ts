import type { ReceivedReply } from "../../channel/index.js";
import type { AgentInput } from "../machine/inputs.js";

/**
 * Turns one worker's replies into inputs of the agent. The agent counts only the events of rounds, so this knows which
 * events of the worker's channel were notices.
 */
export class WorkerReplies {
	private notices: readonly number[] = [];
	/** That of the last withdrawal: what is said of notices before it holds no more. */
	private withdrawn = 0;

	/** The worker has a new channel: its first one, or that of another try to start it. */
	begin(): void {
		this.notices = [];
		this.withdrawn = 0;
	}

	/** A notice was written with this sequence. */
	noticed(sequence: number, isWithdrawal: boolean): void {
		this.notices = [...this.notices, sequence];
		if (isWithdrawal) this.withdrawn = sequence;
	}

	/** Undefined if the agent need not know of this reply. */
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
		if (this.notices.includes(event)) {
			return this.isPast(event)
				? undefined
				: { kind: "worker-ready", localRank };
		}
		const before = this.notices.filter((notice) => notice < event).length;
		return { kind: "worker-acknowledged", localRank, event: event - before };
	}

	/** Whether that notice was withdrawn: a worker that answers it late is not ready for the next one. */
	private isPast(notice: number): boolean {
		return notice <= this.withdrawn;
	}
}
