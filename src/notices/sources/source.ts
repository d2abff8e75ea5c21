import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type {
	Notice,
	NoticeListener,
	NoticeOrigin,
} from "../../model/index.js";
import type { Transport } from "./http.js";

export interface SourceContext {
	/** Its timers let the process end. */
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "warn">;
	readonly listener: NoticeListener;
	readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface OpenSource {
	close(): void;
}

/** What a source says at present. */
export interface Reading {
	readonly notice?: Notice | undefined;
	readonly advice?: readonly Notice[];
}

export interface PolledValue extends NoticeOrigin {
	/** Named in the one line about a failure: "AWS". */
	readonly name: string;
	/** From the end of a poll to the next one, in milliseconds. */
	readonly everyMs: number;
	/** Why what it said before is gone. */
	readonly withdrawn: string;
	/** Rejects with the reason in words. "over": it never will say anything. */
	readonly poll: () => Promise<Reading | "unchanged" | "over">;
}

/** What the firmware says of a machine. */
export type Firmware = Readonly<
	Record<"sys_vendor" | "bios_version" | "chassis_asset_tag", string>
>;

/** A cloud whose metadata service gives notices: one row of the table of clouds. */
export interface CloudSource {
	/** In lines of the log. */
	readonly name: string;
	/** The variable of the environment that names its server. */
	readonly variable: string;
	readonly place: string;
	/** Whether it is the cloud of a machine. */
	readonly isIn: (firmware: Firmware) => boolean;
	readonly open: (
		transport: Transport,
		place: string,
		clock: Pick<Clock, "now" | "wallTime">,
	) => Cloud;
}

export interface Cloud {
	/** Rejects, with the reason in words, if the service is not this cloud's. */
	find(): Promise<unknown>;
	readonly values: readonly PolledValue[];
	/** Says that this node has left; bounded by the transport's time-outs. */
	left?(): Promise<unknown>;
}
