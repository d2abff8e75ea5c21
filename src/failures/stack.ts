import { isAbsolute, relative } from "node:path";
import type { Frame } from "../model/index.js";

const PYTHON_FRAME = /^ {2}File "(.*)", line (\d+) in (.*)$/;
const PYTHON_THREAD = /^(Current thread|Thread) 0x[\da-f]+.*:$/;
const NODE_FRAME = /^ {2}at (?:(.*) )?\((.*):(\d+):\d+\)$/;

/** Longer stacks are cut; a recursion may have thousands of frames. */
const MOST_FRAMES = 60;

const FOREIGN =
	/(^|[/\\])(site-packages|dist-packages|node_modules)[/\\]|[/\\]lib(64)?[/\\]python\d|[/\\]_elastic_run_\w+\.py$|[/\\]python[/\\]elastic_run[/\\]|^<|^node:/;

/**
 * The frames of the main thread in what faulthandler has written for one signal, the innermost first. The thread that got
 * the signal is the main thread, unless it is named; it is the last one otherwise.
 */
export function parsePythonStack(text: string): readonly Frame[] {
	const threads: { isCurrent: boolean; frames: Frame[] }[] = [];
	for (const line of text.split("\n")) {
		const thread = PYTHON_THREAD.exec(line);
		if (thread !== null) {
			threads.push({ isCurrent: thread[1] === "Current thread", frames: [] });
			continue;
		}
		const [, file, number, name] = PYTHON_FRAME.exec(line) ?? [];
		if (file === undefined || name === undefined) continue;
		if (threads.length === 0) threads.push({ isCurrent: true, frames: [] });
		const frames = threads.at(-1)?.frames;
		if (frames && frames.length < MOST_FRAMES) {
			frames.push({ file, line: Number(number), function: name });
		}
	}
	const main =
		threads.find(({ frames }) => frames.at(-1)?.function === "<module>") ??
		threads.find(({ isCurrent }) => isCurrent) ??
		threads.at(-1);
	return main?.frames ?? [];
}

/** The frames in a Node worker's newest answer, the innermost first: two may have asked at the same time. */
export function parseNodeStack(text: string): readonly Frame[] {
	return text
		.slice(Math.max(0, text.lastIndexOf("--- ")))
		.split("\n")
		.flatMap((line): readonly Frame[] => {
			const [, name = "<anonymous>", file, number] =
				NODE_FRAME.exec(line) ?? [];
			return file === undefined
				? []
				: [{ file: withoutScheme(file), line: Number(number), function: name }];
		})
		.slice(0, MOST_FRAMES);
}

export function placeOf({ file, line, function: name }: Frame): string {
	return `${file}:${line} in ${name}`;
}

/** The frames of the user's own code; all where none is. */
export function ownFrames(frames: readonly Frame[]): readonly Frame[] {
	const own = frames.filter((frame) => !isForeign(frame));
	return own.length === 0 ? frames : own;
}

/** The innermost of these, of frames the innermost of which is the first; undefined without a stack. */
export function ownFrame(frames: readonly Frame[]): Frame | undefined {
	return ownFrames(frames)[0];
}

/** Whether a frame is an interpreter's own code, or that of an installed package. */
export function isForeign({ file }: Frame): boolean {
	return FOREIGN.test(file);
}

/** The place of the own frame. */
export function whereOf(
	frames: readonly Frame[],
	cwd: string,
): string | undefined {
	const own = ownFrame(frames);
	return own && placeOf({ ...own, file: shortPath(own.file, cwd) });
}

/** Relative where that is shorter: a file below the working directory. */
function shortPath(file: string, cwd: string): string {
	if (!isAbsolute(file)) return file;
	const path = relative(cwd, file);
	return path.startsWith("..") ? file : path;
}

function withoutScheme(file: string): string {
	return file.startsWith("file://") ? new URL(file).pathname : file;
}
