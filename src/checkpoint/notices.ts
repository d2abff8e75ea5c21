// What a store of checkpoints needs to know of notices that the machine will go.
import { sourceIfLaunched } from "../runtime/index.js";

export interface CheckpointNotices {
	/** The number of the notice that holds; undefined if there is none. Costs two stats if nothing has changed. */
	newest(): number | undefined;
	/** Says that this worker has saved what it wants to keep, and may be ended. */
	acknowledge(notice: number): void;
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
};
