import {
	type AgentSession,
	type EnteredRun,
	type LauncherIo,
	OrderWatch,
} from "../agent/index.js";
import { backgroundClock, type Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import type { AgentConfig } from "../config/index.js";
import type { Notice, NoticeListener, NoticeOrigin } from "../model/index.js";
import {
	leavingFor,
	type NoticeSources,
	noticeInWords,
	type PendingNotice,
	type PendingNotices,
	signalNotice,
	withNotice,
	withoutOrigin,
} from "../notices/index.js";
import { RunKeys } from "../rendezvous/index.js";

interface NoticeWatchOptions {
	readonly config: AgentConfig;
	readonly place: Pick<LauncherIo, "clock" | "cleanups" | "log">;
	/** When this agent was started, in milliseconds since 1970. */
	readonly startedAt: number;
	/** This node's part in the run; undefined before it has joined. */
	readonly session: () => Pick<AgentSession, "notice"> | undefined;
	/** Makes a node leave that has not joined yet. */
	readonly leave: EarlyNoticesOptions["leave"];
}

/** Where a command leaves what it tells a node that has joined. */
interface Orders extends Pick<EnteredRun, "config" | "store"> {
	/** Names this process. */
	readonly incarnation: string;
}

/** Listens for notices from the launch on, and passes them on to the agent. */
export class NoticeWatch implements NoticeListener {
	private readonly sources: Promise<NoticeSources | undefined>;
	private readonly early: EarlyNotices;
	private isClosed = false;

	constructor(private readonly options: NoticeWatchOptions) {
		const { cleanups, log } = options.place;
		const { shutdownTimeoutMs } = options.config;
		this.early = new EarlyNotices({
			...{ clock: backgroundClock, log, shutdownTimeoutMs },
			leave: options.leave,
		});
		this.sources = this.open();
		this.sources.catch((error) =>
			log.warn(`notices cannot be read: ${messageOf(error)}`),
		);
		cleanups.add("closing the sources of notices", () => this.close());
	}

	/** Whether this signal is a notice, which is then followed. */
	signalled(signal: string): boolean {
		// Before it has joined there is nothing to wait for.
		if (this.options.session() === undefined) return false;
		const { environment, notices } = this.options.config;
		const now = this.options.place.clock.wallTime();
		const graceMs = notices.terminationGraceMs;
		const notice = signalNotice(signal, graceMs, environment, now);
		if (notice !== undefined) this.noticed(notice);
		return notice !== undefined;
	}

	noticed(notice: Notice): void {
		const session = this.options.session();
		if (session === undefined) this.early.noticed(notice);
		else session.notice({ kind: "noticed", notice });
	}

	advised(notice: Notice): void {
		const { config, place } = this.options;
		const { source, reason } = notice;
		if (config.notices.onAdvice === "drain") this.noticed(notice);
		else {
			place.log.info(
				`advice (${source}): ${reason}; to follow it, use --on-advice drain`,
			);
		}
	}

	withdrawn({ source, origin }: NoticeOrigin, reason: string): void {
		const session = this.options.session();
		if (session === undefined) this.early.withdrawn({ source, origin });
		else session.notice({ kind: "notice-withdrawn", source, origin, reason });
	}

	/** The node has joined: its agent learns what came before. */
	joined(session: Pick<AgentSession, "notice">): void {
		for (const notice of this.early.handOver()) {
			session.notice({ kind: "noticed", notice });
		}
	}

	/** Hears also what commands tell this node through the store. */
	hearOrders({ config, incarnation, store }: Orders): void {
		const { clock, cleanups } = this.options.place;
		const { runId, nodeId } = config;
		const keys = new RunKeys(runId);
		const about = { clock, store, keys, nodeId, incarnation };
		const orders = new OrderWatch({ ...about, listener: this });
		cleanups.add("closing the watch on orders", () => orders.close());
	}

	/** Tells the platform that this node has left. Never rejects. */
	async left(): Promise<void> {
		await (await this.sources.catch(() => undefined))?.left();
	}

	private close(): void {
		this.isClosed = true;
		this.early.close();
		void this.sources.then((sources) => sources?.close()).catch(() => {});
	}

	private async open(): Promise<NoticeSources | undefined> {
		const { config, place, startedAt } = this.options;
		const { notices, environment } = config;
		const isOff = notices.sources.length === 0;
		if (isOff && notices.maxLifetimeMs === undefined) return undefined;
		const { openNoticeSources } = await import(
			"../notices/open-notice-sources.js"
		);
		if (this.isClosed) return undefined;
		const { log } = place;
		return openNoticeSources(
			{ clock: backgroundClock, log, environment, notices, startedAt },
			this,
		);
	}
}

/** For less, in milliseconds, a new node is not worth the two restarts that its coming and going cost the others. */
const LEAST_STAY_MS = 10 * 60_000;
const TOO_SOON = "it does not join any more";

interface EarlyNoticesOptions {
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
