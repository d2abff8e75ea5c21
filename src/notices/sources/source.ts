import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { NoticeListener } from "../notice.js";
import type { Transport } from "./exchange.js";

/** What a source needs. */
export interface SourceContext {
	/** Its timers let the process end. */
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "warn">;
	readonly listener: NoticeListener;
	readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What a source of a cloud needs. */
export interface CloudContext extends SourceContext {
	readonly transport: Transport;
}

/** A source that listens. */
export interface OpenSource {
	close(): void;
	/** Says that this node has left; bounded by the transport's time-outs. */
	left?(): Promise<void>;
}

/** A metadata service of a cloud. */
export interface Cloud extends OpenSource {
	/** Rejects, with the reason in words, if the service is not this cloud's. */
	identify(): Promise<void>;
	/** Begins to listen. */
	start(): void;
}
