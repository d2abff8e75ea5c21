import { stripVTControlCharacters } from "node:util";
import { formatCount } from "../base/units.js";
import type { Frame } from "../model/index.js";
import { isForeign, ownFrame, placeOf } from "./stack.js";

/** What a failed worker says about its end. */
export interface Trace {
	/** The exception's type: "ValueError"; null if no exception was found. */
	readonly type: string | null;
	/** The innermost frame of the user's own code: "train.py:41 in load"; null without a stack. */
	readonly where: string | null;
	/** The exception's message, or the last line if there is no exception; one line. */
	readonly message: string;
}

/** torch puts the rank before each line of a stack. */
const RANK_PREFIX = /^\[rank\d+\]: ?/;
const PYTHON_FRAME = /^\s+File "(.*)", line (\d+)(?:,? in (.+))?$/;
const NODE_FRAME =
	/^\s+at (?:(?:async )?(.*?) \()?(?:file:\/\/)?([^()]+):(\d+):\d+\)?$/;
/** "ValueError: bad batch", "torch.OutOfMemoryError", "Uncaught TypeError [ERR_X]: no". */
const HEADER =
	/^(?:Uncaught )?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?: \[[A-Z_]+\])?)(?:: (.*))?$/;
/** What faulthandler writes at a fatal signal. */
const FATAL = /^(Fatal Python error): (.*)$/;

const LONGEST_MESSAGE = 200;

/** The frames in a stack as an interpreter prints it, in its order. */
export function framesIn(kind: "python" | "node", stack: string): Frame[] {
	const lines = stack.split("\n");
	return kind === "python"
		? framesOf(lines, PYTHON_FRAME, pythonFrame)
		: framesOf(lines, NODE_FRAME, nodeFrame);
}

/** Finds the last exception in the text of a stack or the end of a worker's stderr; undefined if the text is empty. */
export function parseTrace(text: string): Trace | undefined {
	const lines = stripVTControlCharacters(text)
		.split("\n")
		.map((line) => line.replace(RANK_PREFIX, "").trimEnd());
	const last = lines.findLast((line) => line.trim() !== "");
	if (last === undefined) return undefined;
	return (
		fatal(lines) ??
		python(lines) ??
		node(lines) ?? { type: null, where: null, message: shortened(last.trim()) }
	);
}

/** The frames follow, the innermost first. */
function fatal(lines: readonly string[]): Trace | undefined {
	const at = lines.findLastIndex((line) => FATAL.test(line));
	const [, type, message = ""] = FATAL.exec(lines[at] ?? "") ?? [];
	if (type === undefined) return undefined;
	const frames = framesOf(lines.slice(at), PYTHON_FRAME, pythonFrame);
	return { type, where: whereOf(frames), message: shortened(message) };
}

/** The header follows the frames, the innermost of which is the last. */
function python(lines: readonly string[]): Trace | undefined {
	const last = lines.findLastIndex((line) => PYTHON_FRAME.test(line));
	if (last === -1) return undefined;
	const header = lines
		.slice(last)
		.map((line) => HEADER.exec(line))
		.find((match) => match !== null);
	if (!header) return undefined;
	// Without its head a longer stack is cut.
	const from = lines.slice(0, last).findLastIndex(isTraceback);
	const block = lines.slice(Math.max(0, from), last + 1);
	const frames = framesOf(block, PYTHON_FRAME, pythonFrame).reverse();
	const [, type = "", message = ""] = header;
	return { type, where: whereOf(frames), message: shortened(message) };
}

function isTraceback(line: string): boolean {
	return line.startsWith("Traceback (most recent call last)");
}

/** The header comes before the frames, the innermost of which is the first. */
function node(lines: readonly string[]): Trace | undefined {
	const last = lines.findLastIndex((line) => NODE_FRAME.test(line));
	if (last === -1) return undefined;
	let first = last;
	while (NODE_FRAME.test(lines[first - 1] ?? "")) first -= 1;
	const header = lines
		.slice(0, first)
		.map((line) => HEADER.exec(line))
		.findLast((match) => match !== null);
	if (!header) return undefined;
	const frames = framesOf(lines.slice(first, last + 1), NODE_FRAME, nodeFrame);
	const [, type = "", message = ""] = header;
	return { type, where: whereOf(frames), message: shortened(message) };
}

function framesOf(
	lines: readonly string[],
	pattern: RegExp,
	frameOf: (match: RegExpExecArray) => Frame,
): Frame[] {
	return lines.flatMap((line) => {
		const match = pattern.exec(line);
		return match === null ? [] : [frameOf(match)];
	});
}

function pythonFrame([, file = "", line, name]: RegExpExecArray): Frame {
	return { file, line: Number(line), function: name ?? "<module>" };
}

function nodeFrame([, name, file = "", line]: RegExpExecArray): Frame {
	return { file, line: Number(line), function: name ?? "<anonymous>" };
}

function whereOf(frames: readonly Frame[]): string | null {
	const own = ownFrame(frames);
	return own === undefined ? null : placeOf(own);
}

export function shortened(message: string): string {
	return message.length <= LONGEST_MESSAGE
		? message
		: `${message.slice(0, LONGEST_MESSAGE)}…`;
}

/** "ValueError: bad batch 7, at train.py:41 in load". */
export function traceWords({ type, where, message }: Trace): string {
	const what = [type, message].filter((part) => part).join(": ");
	// At a file's top the function's name says nothing.
	const place = where?.replace(/ in (<module>|(Object\.)?<anonymous>)$/, "");
	return place === undefined ? what : `${what}, at ${place}`;
}

/** More than the frame's line belongs to it: the source, and marks below it. */
const BELOW_FRAME = /^\s{4,}\S/;

/** A stack in which the frames of an interpreter and of installed packages are only counted. */
export function withoutLibraries(stack: string): string {
	const kept: string[] = [];
	let hidden = 0;
	let isHiding = false;
	const tellHidden = () => {
		if (hidden > 0)
			kept.push(`  … ${formatCount(hidden, "frame")} of libraries`);
		hidden = 0;
	};
	for (const line of stack.split("\n")) {
		const plain = line.replace(RANK_PREFIX, "");
		const frame = frameIn(plain);
		if (frame === undefined && isHiding && BELOW_FRAME.test(plain)) continue;
		isHiding = frame !== undefined && isForeign(frame);
		if (isHiding) {
			hidden += 1;
			continue;
		}
		tellHidden();
		kept.push(line);
	}
	tellHidden();
	return kept.join("\n");
}

function frameIn(line: string): Frame | undefined {
	return [
		...framesOf([line], PYTHON_FRAME, pythonFrame),
		...framesOf([line], NODE_FRAME, nodeFrame),
	][0];
}
