import type { Notice } from "../notice.js";
import { objectIn, textIn, timeIn, wordIn } from "./parse-json.js";

/** What Google gives a spot machine, and one that is ended for maintenance, in milliseconds. */
const PREEMPTED_MS = 30_000;
const MAINTENANCE_MS = 60_000;

/** What one of Google's values says of this machine; null: nothing. */
export interface GcpReading {
	readonly notice: Notice | null;
	readonly advice: Notice | null;
}

const NOTHING: GcpReading = { notice: null, advice: null };

/**
 * `instance/preempted`; undefined if it is no such answer.
 * @param wallTime when it was seen, in milliseconds since 1970
 */
export function readPreempted(
	body: string,
	wallTime: number,
): GcpReading | undefined {
	const text = body.trim();
	if (text === "FALSE") return NOTHING;
	if (text !== "TRUE") return undefined;
	return {
		notice: {
			source: "gcp",
			reason: "preempted",
			deadline: wallTime + PREEMPTED_MS,
		},
		advice: null,
	};
}

/**
 * `instance/maintenance-event`; undefined if it is no such answer.
 * @param wallTime when it was seen, in milliseconds since 1970
 */
export function readMaintenanceEvent(
	body: string,
	wallTime: number,
): GcpReading | undefined {
	const deadline = wallTime + MAINTENANCE_MS;
	switch (body.trim()) {
		case "NONE":
			return NOTHING;
		case "TERMINATE_ON_HOST_MAINTENANCE": {
			const reason = "the machine is stopped for maintenance of its host";
			return { notice: { source: "gcp", reason, deadline }, advice: null };
		}
		case "MIGRATE_ON_HOST_MAINTENANCE": {
			const reason = "the machine moves to another host";
			return { notice: null, advice: { source: "gcp", reason, deadline } };
		}
		default:
			return undefined;
	}
}

/** `instance/upcoming-maintenance`; undefined if it is no such answer. */
export function readUpcoming(body: string): GcpReading | undefined {
	if (body.trim() === "NONE") return NOTHING;
	const answer = objectIn(body);
	const status = answer?.maintenance_status ?? answer?.maintenanceStatus;
	const type = textIn(answer?.type);
	const begins =
		answer?.window_start_time ?? answer?.windowStartTime ?? answer?.startTime;
	const isIt = type ?? textIn(status) ?? textIn(begins);
	if (answer === undefined || isIt === undefined) return undefined;
	return {
		notice: null,
		advice: {
			source: "gcp",
			reason: `upcoming maintenance${type === undefined ? "" : `: ${wordIn(type).toLowerCase()}`}`,
			deadline: timeIn(begins),
		},
	};
}
