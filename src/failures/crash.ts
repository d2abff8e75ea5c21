import { join } from "node:path";
import { textAt } from "../base/attempt.js";
import type { Frame } from "../model/index.js";
import { hintOn } from "./hints.js";
import { ownFrame, ownFrames, parsePythonStack, placeOf } from "./stack.js";
import { type Trace, withoutLibraries } from "./trace.js";

/** What is known of a worker that ended by itself and not well. */
export interface CrashFacts {
	/** The signal that ended it, or that a shell reported; undefined if none. */
	readonly signal: string | undefined;
	readonly pid: number | null;
	readonly cwd: string;
	/** The end of its stderr. */
	readonly stderr: string;
	/** The message of its error file. */
	readonly message: string | undefined;
	/** Its exception, or the last line of its stderr. */
	readonly trace: Trace | undefined;
	/** The kernel's out-of-memory killer has ended a process of this control group meanwhile. */
	readonly isOutOfMemory: boolean;
	/** Where the kernel puts core files; undefined if unknown. */
	readonly cores: CoreSettings | undefined;
}

/** `/proc/sys/kernel/core_pattern` and what belongs to it. */
export interface CoreSettings {
	readonly pattern: string;
	/** `core_uses_pid`: appended if the pattern does not name the pid. */
	readonly usesPid: boolean;
	/** The largest core file is 0 bytes: none is written. */
	readonly isOff: boolean;
}

export interface CrashExplanation {
	/** Follows the exit in words: "out of memory"; undefined if nothing was found. */
	readonly what: string | undefined;
	/** What else is known, one line each. */
	readonly lines: readonly string[];
}

const NO_SPACE =
	/^.*(ENOSPC|EDQUOT|No space left on device|Disk quota exceeded).*$/im;
/** A stack and the lines around it, without the frames of libraries: a framework has dozens. */
const LAST_LINES = 50;
const MOST_FRAMES = 4;
const LONGEST_LINE = 300;

/** Signals for which the kernel writes a core file. */
const DUMPING = [
	...["SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP"],
	...["SIGQUIT", "SIGSYS", "SIGXCPU", "SIGXFSZ"],
];

/** What the kernel, the interpreter and the worker itself have said about its end. */
export function explainCrash(facts: CrashFacts): CrashExplanation {
	const { signal, isOutOfMemory } = facts;
	if (signal === "SIGKILL") {
		return { what: isOutOfMemory ? "out of memory" : undefined, lines: [] };
	}
	const last = lastLinesOf(facts.stderr);
	const known = hintOn({ ...facts, stderr: last });
	const dump = dumpOf(facts);
	if (known !== undefined) {
		const { what = dump.what, hint } = known;
		return { what, lines: [hint, ...dump.lines] };
	}
	const full = noSpaceLine(last, facts.message);
	if (full !== undefined) {
		const advice =
			"free space there, or write elsewhere; a retry on this node meets the same disk";
		return { what: "the disk is full", lines: [full, advice] };
	}
	return dump;
}

/** Where it stood, and what the kernel has kept of it, after a signal that tells. */
function dumpOf(facts: CrashFacts): CrashExplanation {
	const { signal } = facts;
	if (signal === undefined || !DUMPING.includes(signal)) {
		return { what: undefined, lines: [] };
	}
	const frames = fatalFrames(facts.stderr);
	const own = ownFrame(frames);
	return {
		what: own && `at ${placeOf(own)}`,
		lines: [...frameLine(frames), ...coreLine(facts)],
	};
}

/** Earlier it may have lived through what it wrote. */
function lastLinesOf(stderr: string): string {
	const lines = withoutLibraries(stderr.trimEnd()).split("\n");
	return lines.slice(-LAST_LINES).join("\n");
}

/** What the worker wrote when a disk had no room, or a quota was used up. */
function noSpaceLine(last: string, message = ""): string | undefined {
	const line = NO_SPACE.exec(message) ?? NO_SPACE.exec(last);
	return line?.[0].trim().slice(0, LONGEST_LINE);
}

/** The stack that Python's faulthandler wrote when the signal came, the innermost frame first. */
function fatalFrames(stderr: string): readonly Frame[] {
	const at = stderr.lastIndexOf("Fatal Python error:");
	if (at === -1) return [];
	const text = stderr.slice(at);
	const current = text.indexOf("Current thread 0x");
	const section = text.slice(Math.max(0, current));
	// The frames end with the first line that is none.
	const [head = "", ...rest] = section.split("\n");
	const end = rest.findIndex((line) => !/^ {2}File "/.test(line));
	const frames = end === -1 ? rest : rest.slice(0, end);
	return parsePythonStack([head, ...frames].join("\n"));
}

function frameLine(frames: readonly Frame[]): readonly string[] {
	if (frames.length === 0) return [];
	const own = ownFrames(frames);
	const shown = own.slice(0, MOST_FRAMES).map(placeOf);
	const more = own.length > MOST_FRAMES ? " < …" : "";
	return [`its last Python frames: ${shown.join(" < ")}${more}`];
}

function coreLine({ cores, pid, cwd }: CrashFacts): readonly string[] {
	const place = cores && corePlace(cores, pid, cwd);
	return place === undefined ? [] : [place];
}

/** Where the core file of a process is, in words; undefined if nobody knows. */
export function corePlace(
	{ pattern, usesPid, isOff }: CoreSettings,
	pid: number | null,
	cwd: string,
): string | undefined {
	if (pattern.startsWith("|")) return describeHandler(pattern, pid);
	if (isOff) {
		return "no core file: its size is limited to 0 (ulimit -c unlimited allows one)";
	}
	if (pattern === "") return undefined;
	const hasPid = /%[pP]/.test(pattern);
	const name = pattern.replace(/%(.)/g, (_, letter: string) => {
		if (letter === "%") return "%";
		return /[pP]/.test(letter) && pid !== null ? String(pid) : "*";
	});
	const suffix = usesPid && !hasPid ? `.${pid ?? "*"}` : "";
	const path = name.startsWith("/") ? name : join(cwd, name);
	return `its core file: ${path}${suffix}`;
}

function describeHandler(pattern: string, pid: number | null): string {
	const [program = ""] = pattern.slice(1).trim().split(/\s+/);
	const who = pid === null ? "" : ` ${pid}`;
	if (program.endsWith("/systemd-coredump")) {
		return `its core dump is with systemd-coredump: coredumpctl info${who}`;
	}
	if (program.endsWith("/apport")) {
		return "its core dump went to apport: see /var/crash";
	}
	return `its core dump went to ${program}`;
}

/** The kernel's settings for core files, as workers inherit them; undefined if unreadable. */
export function readCores(): CoreSettings | undefined {
	const pattern = textAt("/proc/sys/kernel/core_pattern");
	if (pattern === undefined) return undefined;
	return {
		pattern: pattern.trim(),
		usesPid: textAt("/proc/sys/kernel/core_uses_pid")?.trim() === "1",
		isOff: /^Max core file size +0 /m.test(textAt("/proc/self/limits") ?? ""),
	};
}
