import { readFileSync, writeFileSync } from "node:fs";
import { attempt } from "../base/attempt.js";
import { pause } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import { catches } from "../base/process-stat.js";
import {
	channelPaths,
	type HookPaths,
	hookPaths,
	JsonFields,
} from "../channel/index.js";
import { parseNodeStack, parsePythonStack } from "../failures/index.js";
import { HeldFile } from "../logs/index.js";
import { type Frame, GROUP_STATES, type RankEvidence } from "../model/index.js";
import { signalProcess } from "../processes/index.js";
import type { NodeProcess } from "../steps/index.js";

/** What the hook in a worker has said that it can do: docs/channel.md. */
export interface Hook {
	readonly kind: "python" | "node";
	readonly pid: number;
	/** The number of the signal that makes it write its stacks; undefined if it takes none. */
	readonly signal: number | undefined;
	/** The socket of torch's own server. */
	readonly torchSocket: string | undefined;
	/** How far it is with torch's process group; undefined: it has not begun to join one. */
	readonly processGroup: RankEvidence["processGroup"];
}

/** How often the file of the stacks is looked at, in milliseconds. */
const LOOK_EVERY_MS = 10;
/** A process without a processor may pause between two lines of its stack, in milliseconds. */
const PAUSES_MS = 200;
const MOST_STACK_BYTES = 256 * 1024;

export function hookPathsOf({ directory }: NodeProcess): HookPaths {
	return hookPaths(channelPaths(directory).hook);
}

/** Undefined if no hook runs in the worker, or what it wrote is no such file. Never throws. */
export function readHook({ ready }: HookPaths): Hook | undefined {
	try {
		const fields = JsonFields.parse(readFileSync(ready, "utf8"));
		fields.oneOf("version", [1]);
		return {
			kind: fields.oneOf("kind", ["python", "node"]),
			pid: fields.integer("pid"),
			signal: fields.nullableNumber("signal") ?? undefined,
			torchSocket: fields.nullableText("torch_socket") ?? undefined,
			processGroup: GROUP_STATES.find(
				(state) => state === fields.optionalText("process_group"),
			),
		};
	} catch {
		return undefined;
	}
}

/** A stack as the worker wrote it, and its main thread's frames. */
export interface Stack {
	readonly text: string;
	readonly frames: readonly Frame[];
}

/**
 * Asks a worker for its stacks. It writes them itself, so the wait is bounded by `until` on the clock; undefined if none
 * came. The signal is sent only to a process that is seen to catch it: it would end any other.
 */
export async function askForStack(
	hook: Hook,
	paths: HookPaths,
	clock: Clock,
	until: number,
): Promise<Stack | undefined> {
	const file = new HeldFile(paths.stack);
	const from = sizeOf(file);
	if (!ask(hook, paths, clock)) return undefined;
	const read = () => {
		const size = sizeOf(file);
		const section =
			size > from ? file.section(from, MOST_STACK_BYTES) : undefined;
		return section?.bytes.toString("utf8") ?? "";
	};
	let text = "";
	for (let grewAt = clock.now(); ; ) {
		await pause(clock, LOOK_EVERY_MS);
		const now = clock.now();
		const before = text;
		text = read();
		if (text !== before) grewAt = now;
		else if (text !== "" && isWhole(hook, text)) break;
		if (text !== "" && now - grewAt >= PAUSES_MS) break;
		if (now >= until) break;
	}
	if (text === "") return undefined;
	const parse = hook.kind === "python" ? parsePythonStack : parseNodeStack;
	return { text, frames: parse(text) };
}

/** Python writes the main thread last, line by line; Node writes all at once. */
function isWhole({ kind }: Hook, text: string): boolean {
	return kind === "node" || /^ {2}File .* in <module>$/m.test(text);
}

function ask(hook: Hook, paths: HookPaths, clock: Clock): boolean {
	if (hook.kind === "node") {
		try {
			writeFileSync(paths.ask, `${Math.round(clock.now())}`, { mode: 0o600 });
			return true;
		} catch {
			return false;
		}
	}
	const { pid, signal } = hook;
	if (signal === undefined || !catches(pid, signal)) return false;
	return signalProcess(pid, signal) === "sent";
}

function sizeOf(file: HeldFile): number {
	return attempt(() => file.look().size) ?? 0;
}
