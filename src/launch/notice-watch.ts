import type { AgentSession } from "../agent/agent-session.js";
import type { EnteredRun } from "../agent/joining/enter-run.js";
import { OrderWatch } from "../agent/presence/order-watch.js";
import type { LauncherIo } from "../agent/workers/node-resources.js";
import { backgroundClock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { AgentConfig } from "../config/agent-config.js";
import type { Notice, NoticeListener, NoticeOrigin } from "../model/notice.js";
import type { NoticeSources } from "../notices/open-notice-sources.js";
import { signalNotice } from "../notices/sources/signal.js";
import { RunKeys } from "../rendezvous/records/keys.js";
import { EarlyNotices, type EarlyNoticesOptions } from "./early-notices.js";

export interface NoticeWatchOptions {
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
export interface Orders extends Pick<EnteredRun, "config" | "store"> {
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
