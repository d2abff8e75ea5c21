import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import type { Notice, NoticeOrigin } from "../model/notice.js";
import {
	leavingFor,
	noticeInWords,
	type PendingNotice,
	type PendingNotices,
	withNotice,
	withoutOrigin,
} from "../notices/pending-notices.js";

/** For less, in milliseconds, a new node is not worth the two restarts that its coming and going cost the others. */
const LEAST_STAY_MS = 10 * 60_000;
const TOO_SOON = "it does not join any more";

export interface EarlyNoticesOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info">;
	readonly shutdownTimeoutMs: number;
	/** The node leaves without having joined. */
	readonly leave: (stop: {
		readonly exitCode: number;
		readonly reason: string;
	}) => void;
}

/** The notices of a node that has not joined its run yet: it still joins if its machine stays long enough. */
export class EarlyNotices {
	private pending: PendingNotices | undefined;
	private cancel: () => void = () => {};

	constructor(private readonly options: EarlyNoticesOptions) {}

	noticed(notice: Notice): void {
		const { clock, log, shutdownTimeoutMs } = this.options;
		const [now, wallTime] = [clock.now(), clock.wallTime()];
		const times = { now, wallTime, shutdownTimeoutMs };
		this.pending = withNotice(this.pending, notice, times);
		if (stays(this.pending, now)) log.info(noticeInWords(this.pending, now));
		this.look();
	}

	withdrawn(what: NoticeOrigin): void {
		this.pending = this.pending && withoutOrigin(this.pending, what);
		this.look();
	}

	/** What the agent is told when the node has joined. */
	handOver(): readonly Notice[] {
		const handed: readonly PendingNotice[] = this.pending ?? [];
		this.close();
		return handed.map(({ notice, origin }) => ({ ...notice, origin }));
	}

	close(): void {
		this.pending = undefined;
		this.cancel();
	}

	private look(): void {
		const { clock, leave } = this.options;
		const { pending } = this;
		this.cancel();
		if (pending === undefined) return;
		if (stays(pending, clock.now())) {
			const until = pending[0].termAt - LEAST_STAY_MS;
			this.cancel = clock.wakeAt(until + 1, () => this.look());
			return;
		}
		const { exitCode, reason } = leavingFor(pending);
		this.close();
		leave({ exitCode, reason: `${reason}; ${TOO_SOON}` });
	}
}

function stays([{ termAt }]: PendingNotices, now: number): boolean {
	return termAt - now >= LEAST_STAY_MS;
}
