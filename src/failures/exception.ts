import { readFileSync, statSync } from "node:fs";
import {
	fields,
	flag,
	type Infer,
	matching,
	nullable,
	oneOf,
	text,
	whole,
} from "../base/shape.js";
import { type HookPaths, isGone } from "../channel/index.js";
import { plainMessage } from "../logs/index.js";
import { isForeign, whereOf } from "./stack.js";
import {
	framesIn,
	parseTrace,
	shortened,
	type Trace,
	traceWords,
} from "./trace.js";

const LARGEST_BYTES = 256 * 1024;

/** An uncaught exception in a worker, as its hook tells it: docs/channel.md. */
export type RaisedException = Infer<typeof RAISED>;

const RAISED = fields({
	version: oneOf(1),
	kind: oneOf("python", "node"),
	pid: whole(1, 2 ** 31),
	/** In clock ticks since the machine was started; empty if not known. */
	start_time: matching(/^\d{0,20}$/, "a number of clock ticks"),
	/** The name of the thread that it has ended; null: the main thread. */
	thread: nullable(text(500)),
	/** The process ends because of it, unless something holds it up. */
	ends: flag,
	/** Null for what is no error: a Node program may throw anything. */
	type: nullable(text(500)),
	message: text(8_192),
	/** The innermost frame first. */
	stack: text(65_536),
});

/** Undefined if the worker has raised none, or what is there is no such file. Never throws. */
export function readException({
	exception,
}: Pick<HookPaths, "exception">): RaisedException | undefined {
	try {
		const found = statSync(exception, { throwIfNoEntry: false });
		if (found === undefined || !found.isFile()) return undefined;
		if (found.size > LARGEST_BYTES) return undefined;
		const value: unknown = JSON.parse(readFileSync(exception, "utf8"));
		return RAISED(value, {}) ? value : undefined;
	} catch {
		return undefined;
	}
}

/** Whether the process that raised it has ended. */
export function hasEnded({ pid, start_time }: RaisedException): boolean {
	return isGone({ pid, startTime: start_time });
}

/** torch's data loader raises what a child of it has raised once more, with the child's stack in the message. */
const ORIGINAL = /^Original Traceback \(most recent call last\):$/m;

/** @param cwd of the worker: files below it are named from there */
export function traceOf(raised: RaisedException, cwd: string): Trace {
	const { kind, type, message, stack } = raised;
	const [, original = ""] = message.split(ORIGINAL);
	const first = parseTrace(original);
	if (first !== undefined && first.type !== null) {
		const inner = framesIn("python", original).reverse();
		// A library's line there says less than the one that asked for the batch.
		const frames = inner.every(isForeign) ? framesIn(kind, stack) : inner;
		return { ...first, where: whereOf(frames, cwd) ?? null };
	}
	const frames = framesIn(kind, stack);
	const where = whereOf(frames, cwd);
	const [line = ""] = message.trim().split("\n");
	return {
		type: type && plainMessage(type),
		// Node's own code is no place to look at.
		where: where === undefined || /^node:/.test(where) ? null : where,
		message: shortened(plainMessage(line)),
	};
}

/** "its thread loader has ended with ValueError: bad batch, at train.py:12". */
export function raisedWords(raised: RaisedException, cwd: string): string {
	const words = traceWords(traceOf(raised, cwd));
	if (raised.ends) return `it has raised ${words}`;
	return raised.thread === null
		? `its program has caught ${words}`
		: `its thread ${plainMessage(raised.thread)} has ended with ${words}`;
}
