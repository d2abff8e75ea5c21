// What a store of checkpoints hears from this worker's agent, and tells it.
import { sourceIfLaunched } from "../runtime/index.js";

export interface CheckpointNotices {
	/** The number of the notice that holds; undefined if there is none. Costs two stats if nothing has changed. */
	newest(): number | undefined;
	/** Says that this worker has saved what it wants to keep, and may be ended. */
	acknowledge(notice: number): void;
	/** Says that no step comes for so long, which is no hang; 0 ends it. The ledger counts what lies between. */
	announce(busy: "checkpoint" | "load", forSeconds: number): void;
}

/** The notices of this worker's agent. A worker that only saves need not follow its rounds: nothing greets the agent. */
export const channelNotices: CheckpointNotices = {
	newest() {
		const notice = sourceIfLaunched()?.notice();
		return notice?.source == null ? undefined : notice.sequence;
	},
	acknowledge(notice) {
		sourceIfLaunched()?.say({ kind: "ACK", event: notice });
	},
	announce(busy, forSeconds) {
		try {
			const report = { busy, for_seconds: forSeconds };
			sourceIfLaunched()?.say({ kind: "PROGRESS", ...report });
		} catch {
			// A save is worth more than that somebody knows of it.
		}
	},
};
