import { join } from "node:path";
import { attempt } from "../base/attempt.js";
import { isObject } from "../base/shape.js";
import { JsonFields, readMessage, replaceFile } from "../channel/index.js";
import type { Entry, Snapshot } from "../store/index.js";
import type { LocalAgent } from "./local-agents.js";

/** The file in an agent's directory: docs/channel.md. */
const NODE_FILE = "node.json";

/** What an agent tells commands on its machine. */
export interface NodeFile {
	readonly runId: string;
	readonly nodeId: string;
	readonly instance: number;
	/** Its log directory: `<log dir>/<run id>/<instance>/<node id>`. */
	readonly logDirectory: string;
	/** A signal that makes it leave its run; null if none does. */
	readonly leaveSignal: NodeJS.Signals | null;
	/** How long its workers may take to end, in milliseconds. */
	readonly shutdownTimeoutMs: number;
}

/** Throws the system's error. */
export function writeNodeFile(directory: string, node: NodeFile): void {
	const text = JSON.stringify({ version: 1, ...node });
	replaceFile(join(directory, NODE_FILE), text, directory);
}

/** Undefined if there is no readable one: the agent has not written it yet. */
export function readNodeFile({ directory }: LocalAgent): NodeFile | undefined {
	const file = attempt(() => readMessage(join(directory, NODE_FILE)));
	return file && attempt(() => decode(JsonFields.parse(file.text)));
}

/** The signals by which people end programs, the usual one first. */
const LEAVE_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const;

/**
 * The signal that asks an agent to leave; null if there is none.
 * @param isNotice SIGTERM only says that the machine will go: workers may work on for long
 */
export function leaveSignalOf(
	handled: readonly NodeJS.Signals[],
	isNotice: boolean,
): NodeJS.Signals | null {
	const [usual, ...others] = LEAVE_SIGNALS;
	const order = isNotice ? [...others, usual] : LEAVE_SIGNALS;
	return order.find((signal) => handled.includes(signal)) ?? null;
}

function decode(fields: JsonFields): NodeFile {
	fields.oneOf("version", [1]);
	return {
		runId: fields.text("runId"),
		nodeId: fields.text("nodeId"),
		instance: fields.integer("instance"),
		logDirectory: fields.text("logDirectory"),
		leaveSignal: fields.oneOf("leaveSignal", [...LEAVE_SIGNALS, null]),
		shutdownTimeoutMs: fields.integer("shutdownTimeoutMs"),
	};
}

/** The file in an agent's directory for a run whose state is in the agent's memory: docs/status.md. */
export const MIRROR_FILE = "run.json";

/** The keys of one run, as stored in a file of an agent's directory. */
export interface Mirror {
	readonly runId: string;
	readonly snapshot: Snapshot;
}

export function encodeMirror(runId: string, snapshot: Snapshot): string {
	const { revision, entries } = snapshot;
	return JSON.stringify({
		version: 1,
		runId,
		revision,
		entries: [...entries.values()],
	});
}

/** Undefined if the text is no such file. */
export function decodeMirror(text: string): Mirror | undefined {
	const content: unknown = attempt(() => JSON.parse(text));
	if (!isObject(content) || content.version !== 1) return undefined;
	const { runId, revision, entries } = content;
	if (
		typeof runId !== "string" ||
		typeof revision !== "number" ||
		!Array.isArray(entries) ||
		!entries.every(isEntry)
	) {
		return undefined;
	}
	const byKey = entries.map((entry): [string, Entry] => [entry.key, entry]);
	return { runId, snapshot: { revision, entries: new Map(byKey) } };
}

function isEntry(value: unknown): value is Entry {
	return (
		isObject(value) &&
		typeof value.key === "string" &&
		typeof value.value === "string" &&
		typeof value.createRevision === "number" &&
		typeof value.modRevision === "number"
	);
}
