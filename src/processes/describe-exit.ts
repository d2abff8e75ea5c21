import { constants } from "node:os";
import { basename } from "node:path";
import type { WorkerExit } from "./worker.js";

/** The control group's count of out-of-memory kills, at the worker's start and now; undefined if unreadable. */
export interface OomKills {
	readonly before: number | undefined;
	readonly now: number | undefined;
}

export interface ExitDescription {
	/** The exit code; 128 + n for a worker killed by signal n. */
	readonly exitCode: number;
	/** One line in words: "exit code 1", "killed by SIGKILL". */
	readonly description: string;
	/** The likely meaning and where to look; undefined if nothing is known or the launcher ended the worker. */
	readonly hint: string | undefined;
}

/** How the hint begins where the kernel has killed a worker for want of memory. */
export const OUT_OF_MEMORY = "out of memory:";

/** A shell exits with 128 + n if its command died of signal n. */
const SIGNAL_BASE = 128;

/** The codes of a worker that was asked to stop: it died of SIGTERM or SIGINT, or exited as a shell does. */
export const STOP_CODES: readonly number[] = [
	SIGNAL_BASE + constants.signals.SIGTERM,
	SIGNAL_BASE + constants.signals.SIGINT,
];

/** Signals from here on are left to programs by the C library. */
const FIRST_REAL_TIME_SIGNAL = 34;
const LAST_REAL_TIME_SIGNAL = 64;

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
	Object.entries(constants.signals)
		.reverse()
		.map(([name, number]) => [number, name]),
);

const PASSED_ON =
	"the launcher passes this signal on: handle it, or name it in --signals-to-handle";
const CRASH =
	"a crash in native code: look for a core dump, and at the versions of native libraries and drivers";

const SIGNAL_HINTS: Readonly<Record<string, string>> = {
	SIGABRT:
		"the program gave itself up: abort(), a failed assertion, or Node.js out of heap (--max-old-space-size)",
	SIGSEGV: CRASH,
	SIGBUS: `${CRASH}; or a full /dev/shm (docker run --shm-size)`,
	SIGFPE: CRASH,
	SIGILL: `${CRASH}; or a build for another processor`,
	SIGTERM: "not sent by this launcher: somebody else stopped it",
	SIGINT: "not sent by this launcher: somebody else interrupted it",
	SIGHUP: "not sent by this launcher: somebody else hung it up",
	SIGUSR1: PASSED_ON,
	SIGUSR2: PASSED_ON,
	SIGXCPU: "its limit of processor time (ulimit -t) was reached",
	SIGXFSZ: "its limit of file size (ulimit -f) was reached",
	SIGPIPE: "it wrote into a pipe or socket whose reader is gone",
};

const CODE_HINTS: Readonly<Record<number, string>> = {
	126: "a command in it may not be executed: see the end of its stderr",
	127: "a command in it was not found: see the end of its stderr",
};

/** Meanings that hold only for Node.js. */
const NODE_CODE_HINTS: Readonly<Record<number, string>> = {
	9: "of a Node.js worker: a command line option that this Node.js does not know",
	13: "of a Node.js worker: its top-level await was never settled",
};

/**
 * Describes how a worker ended.
 * @param program the path of its program; undefined if not known
 */
export function describeExit(
	exit: WorkerExit,
	program: string | undefined,
	oomKills: OomKills = { before: undefined, now: undefined },
): ExitDescription {
	const description = exit.signal
		? `killed by ${exit.signal}`
		: describeCode(exit.code ?? 0);
	return {
		exitCode: exit.signal
			? SIGNAL_BASE + constants.signals[exit.signal]
			: (exit.code ?? 0),
		description,
		hint: exit.signalledByAgent ? undefined : hintOf(exit, program, oomKills),
	};
}

function describeCode(code: number): string {
	const signal = reportedSignal(code) ?? realTimeSignal(code);
	return signal === undefined
		? `exit code ${code}`
		: `exit code ${code} (${signal} reported by a shell)`;
}

function reportedSignal(code: number | null): string | undefined {
	return code === null ? undefined : SIGNAL_NAMES.get(code - SIGNAL_BASE);
}

/** Node has no names for these signals. */
function realTimeSignal(code: number): string | undefined {
	const number = code - SIGNAL_BASE;
	return number >= FIRST_REAL_TIME_SIGNAL && number <= LAST_REAL_TIME_SIGNAL
		? `real-time signal ${number}`
		: undefined;
}

/** The signal that ended a worker, or a command of its shell; undefined if none did. */
export function signalOf(exit: WorkerExit): string | undefined {
	return exit.signal ?? reportedSignal(exit.code);
}

function hintOf(
	exit: WorkerExit,
	program: string | undefined,
	oomKills: OomKills,
): string | undefined {
	const signal = signalOf(exit);
	if (signal === "SIGKILL") return explainKill(oomKills);
	if (signal !== undefined) return SIGNAL_HINTS[signal];
	if (exit.code === null) return undefined;
	const ofNode = isNode(program) ? NODE_CODE_HINTS[exit.code] : undefined;
	const ofCode = ofNode ?? CODE_HINTS[exit.code];
	const killed = exit.code === 0 ? undefined : describeOomKills(oomKills);
	return [killed, ofCode].filter(Boolean).join("\n") || undefined;
}

/** The processes of this control group that were killed meanwhile, perhaps helpers of a worker; undefined: none. */
export function describeOomKills({
	before,
	now,
}: OomKills): string | undefined {
	if (before === undefined || now === undefined || now <= before) {
		return undefined;
	}
	return `in this round the kernel has killed ${now - before} of the control group's processes for lack of memory (oom_kill rose from ${before} to ${now}): a worker, or what one has started`;
}

function isNode(program: string | undefined): boolean {
	return program !== undefined && /^node(js)?$/.test(basename(program));
}

function explainKill({ before, now }: OomKills): string {
	if (before === undefined || now === undefined)
		return "not sent by this launcher: maybe out of memory (the kernel's log, dmesg, would say so)";
	return now > before
		? `${OUT_OF_MEMORY} the control group's counter oom_kill rose from ${before} to ${now} meanwhile`
		: `not sent by this launcher, nor by the control group's out-of-memory killer (oom_kill is still ${now}): maybe the machine ran out of memory (see dmesg), or somebody killed it`;
}
