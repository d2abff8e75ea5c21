import { join } from "node:path";
import { JsonFields } from "../channel/json-fields.js";
import { readMessage, replaceFile } from "../channel/message-file.js";
import type { LocalAgent } from "./local-agents.js";

/** The file in an agent's directory: docs/channel.md. */
export const NODE_FILE = "node.json";

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
	try {
		const file = readMessage(join(directory, NODE_FILE));
		return file && decode(JsonFields.parse(file.text));
	} catch {
		return undefined;
	}
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
