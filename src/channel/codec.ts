import {
	type ChannelEvent,
	type NoticeState,
	type ReceivedReply,
	type WorkerEvent,
	type WorkerInfo,
	type WorkerReply,
	workerInfoOf,
} from "./events.js";
import { JsonFields } from "./json-fields.js";

/** Version of the wire format. Other versions are refused; unknown fields of this one are ignored. */
const VERSION = 1;

/**
 * Encodes an event as UTF-8 JSON with the wire's names.
 * @param notice the newest one, if there was any; a NOTICE is its own
 */
export function encodeEvent(event: ChannelEvent, notice?: NoticeState): string {
	return JSON.stringify({
		version: VERSION,
		sequence: event.sequence,
		timestamp: event.timestamp,
		kind: event.kind,
		worker_state: event.workerState,
		change_event: event.changeEvent,
		instance: event.instance,
		round: event.round,
		reason: event.reason,
		...(event.kind === "NOTICE" && {
			deadline: event.deadline,
			source: event.source,
		}),
		worker_info: encodeInfo(event.workerInfo),
		notice,
	});
}

/** Decodes an event. Throws an error that names the wrong field. */
export function decodeEvent(text: string): DecodedEvent {
	const fields = JsonFields.parse(text);
	fields.oneOf("version", [VERSION]);
	const kind = fields.oneOf("kind", ["PAUSE", "WORK", "NOTICE"]);
	const common = decodeCommon(fields);
	if (kind === "NOTICE") {
		const event = { ...common, kind, ...decodeGoing(fields) };
		return { event, notice: event };
	}
	const notice = fields.optionalObject("notice");
	return {
		event: { ...common, kind },
		notice: notice && {
			sequence: notice.integer("sequence"),
			reason: notice.text("reason"),
			...decodeGoing(notice),
		},
	};
}

/** An event with the newest notice before it, if there was any. */
export interface DecodedEvent {
	readonly event: ChannelEvent;
	readonly notice: NoticeState | undefined;
}

function decodeGoing(fields: JsonFields) {
	return {
		deadline: fields.nullableNumber("deadline"),
		source: fields.nullableText("source"),
	};
}

function decodeCommon(fields: JsonFields): Omit<WorkerEvent, "kind"> {
	return {
		sequence: fields.integer("sequence"),
		timestamp: fields.number("timestamp"),
		workerState: fields.oneOf("worker_state", ["HEALTHY", "PAUSED"]),
		changeEvent: fields.oneOf("change_event", [null, "SCALE_UP", "SCALE_DOWN"]),
		instance: fields.integer("instance"),
		round: fields.integer("round"),
		reason: fields.text("reason"),
		workerInfo: decodeInfo(fields.object("worker_info")),
	};
}

/** Encodes a reply as UTF-8 JSON. Extra fields of a PROGRESS pass through unchanged, except the envelope's four names. */
export function encodeReply(
	reply: WorkerReply,
	sequence: number,
	timestamp: number,
): string {
	return JSON.stringify({
		...reply,
		version: VERSION,
		sequence,
		timestamp,
		kind: reply.kind,
	});
}

/** Decodes a reply; undefined if this version does not know its kind. Throws an error that names the wrong field. */
export function decodeReply(text: string): ReceivedReply | undefined {
	const fields = JsonFields.parse(text);
	fields.oneOf("version", [VERSION]);
	const envelope = {
		sequence: fields.integer("sequence"),
		timestamp: fields.number("timestamp"),
	};
	const kind = fields.text("kind");
	switch (kind) {
		case "HELLO":
		case "WAITED":
			return { ...envelope, kind };
		case "ACK":
		case "NOTICED":
			return { ...envelope, kind, event: fields.integer("event") };
		case "WORKING":
			return { ...envelope, kind, round: fields.integer("round") };
		case "WAITING": {
			const round = fields.integer("round");
			return { ...envelope, kind, round, message: fields.text("message") };
		}
		case "PROGRESS": {
			const busy = fields.optionalText("busy");
			const details = { ...fields.without("version"), ...envelope, kind };
			const step =
				busy === undefined
					? fields.number("step")
					: fields.optionalNumber("step");
			return busy === undefined
				? { ...details, step }
				: { ...details, step, busy, for_seconds: fields.number("for_seconds") };
		}
		case "ERROR": {
			const message = fields.text("message");
			return {
				...envelope,
				kind,
				message,
				stack: fields.optionalText("stack"),
			};
		}
		default:
			return undefined;
	}
}

function encodeInfo(info: WorkerInfo): object {
	return {
		local_rank: info.localRank,
		role_rank: info.roleRank,
		rank: info.rank,
		local_world_size: info.localWorldSize,
		role_world_size: info.roleWorldSize,
		world_size: info.worldSize,
		group_rank: info.groupRank,
		group_world_size: info.groupWorldSize,
		role: info.role,
		master_addr: info.masterAddr,
		master_port: info.masterPort,
		round: info.round,
		restart_count: info.restartCount,
		run_id: info.runId,
	};
}

function decodeInfo(fields: JsonFields): WorkerInfo {
	return workerInfoOf({
		localRank: fields.integer("local_rank"),
		roleRank: fields.integer("role_rank"),
		rank: fields.integer("rank"),
		localWorldSize: fields.integer("local_world_size"),
		roleWorldSize: fields.integer("role_world_size"),
		worldSize: fields.integer("world_size"),
		groupRank: fields.integer("group_rank"),
		groupWorldSize: fields.integer("group_world_size"),
		role: fields.text("role"),
		masterAddr: fields.text("master_addr"),
		masterPort: fields.integer("master_port"),
		round: fields.integer("round"),
		restartCount: fields.integer("restart_count"),
		runId: fields.text("run_id"),
	});
}
