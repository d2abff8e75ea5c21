import type { Trace } from "./trace.js";

export interface FailureFacts {
	/** It ended by itself, or made no step. */
	readonly kind: "exit" | "hang";
	/** 128 + n if signal n killed it. */
	readonly exitCode: number;
	/** The signal that killed it, or null. */
	readonly signal: string | null;
	/** The kernel killed it for want of memory. */
	readonly isOutOfMemory: boolean;
	/** What it has said about its end; undefined: nothing. */
	readonly trace: Trace | undefined;
	/** Its rank, and its last step, if known. */
	readonly rank: number;
	readonly step: number | undefined;
	/** "hung for 61 s at train.py:41 in load_batch". */
	readonly description: string;
}

/** Signals by which a process ends itself, with an error in native code. */
const OWN_SIGNALS = new Map([
	["SIGABRT", 6],
	["SIGSEGV", 11],
	["SIGBUS", 7],
	["SIGFPE", 8],
	["SIGILL", 4],
	["SIGSYS", 31],
	["SIGTRAP", 5],
]);
/** How the fingerprint of a hang begins. */
const HANG = "hang";
const SIGNAL_BASE = 128;
const LAST_SIGNAL = 64;

/**
 * What makes two failures the same: the kind of exit, the exception's type, the innermost frame of the user's own code, the
 * message without numbers. Where no exception is known, it must be the same rank; where the end may come from outside, as
 * that by a signal, also the same step. A hang is the same at the same place after the same step, whichever rank it is.
 * Undefined: nothing shows that the program itself is at fault.
 */
export function fingerprintOf(facts: FailureFacts): string | undefined {
	const { kind, rank, step, trace, description } = facts;
	const place = step === undefined ? undefined : `rank ${rank}, step ${step}`;
	if (kind === "hang") {
		if (step === undefined) return undefined;
		const what = hangIn(description);
		return what.startsWith(`${HANG} at `)
			? `${what}; step ${step}`
			: `${what}; ${place}`;
	}
	if (facts.isOutOfMemory) return `out of memory; ${place ?? `rank ${rank}`}`;
	const end = endOf(facts);
	if (end === undefined) return undefined;
	if (trace !== undefined && isInVain(facts)) {
		return `${end.words}; ${trace.type ?? ""}; ${withoutNumbers(trace.message)}`;
	}
	if (trace !== undefined && trace.type !== null) {
		const { type, where, message } = trace;
		return `${end.words}; ${type}; ${where ?? ""}; ${withoutNumbers(message)}`;
	}
	if (end.isSignal) return place && `${end.words}; ${place}`;
	return `${end.words}; rank ${rank}; ${withoutNumbers(trace?.message ?? "")}`;
}

/** By exit code, exception and message: a module or package that is not there, a program that cannot be read, wrong arguments. */
const IN_VAIN: readonly (readonly [RegExp, RegExp, RegExp])[] = [
	[/^1$/, /^(ModuleNotFoundError|IndentationError|TabError)$/, /^/],
	// A library that is not whole yet may be built by another process at this moment.
	[/^1$/, /^ImportError$/, /^cannot import name /],
	// Data that is not whole yet may be JSON.
	[/^1$/, /^SyntaxError$/, /^(?!.*JSON)/],
	[
		/^1$/,
		/^Error( \[(ERR_)?MODULE_NOT_FOUND\])?$/,
		/^Cannot find (module|package) /,
	],
	[/^1$/, /^$/, /^\S*python\S*: (No module named|Error while finding module)/],
	// As argparse says it.
	[
		/^2$/,
		/^$/,
		/^\S.*: error: (unrecognized arguments|the following arguments|argument .*: (invalid|expected|not allowed)|one of the arguments|ambiguous option)/,
	],
	// As click says it.
	[
		/^2$/,
		/^$/,
		/^Error: (No such (option|command)|Missing (option|argument|command|parameter)|Invalid value for|Got unexpected extra argument)/,
	],
];

/** Whether no restart can change it, as long as nobody repairs the program, its arguments or what is installed. */
export function isInVain({
	exitCode,
	trace,
}: Pick<FailureFacts, "exitCode"> &
	Partial<Pick<FailureFacts, "trace">>): boolean {
	if (trace === undefined) return false;
	const facts = [String(exitCode), trace.type ?? "", trace.message] as const;
	return IN_VAIN.some((row) =>
		row.every((pattern, index) => pattern.test(facts[index] ?? "")),
	);
}

/** Undefined: somebody else has ended it. */
function endOf({
	exitCode,
	signal,
}: FailureFacts): { words: string; isSignal: boolean } | undefined {
	const number = exitCode - SIGNAL_BASE;
	const isSignal = signal !== null || (number > 0 && number <= LAST_SIGNAL);
	if (!isSignal) return { words: `exit code ${exitCode}`, isSignal };
	const isOwn =
		signal === null
			? [...OWN_SIGNALS.values()].includes(number)
			: OWN_SIGNALS.has(signal);
	return isOwn ? { words: `signal ${number}`, isSignal } : undefined;
}

/** How long it was, whether it computed, and why this rank is the suspect may depend on the moment. */
function hangIn(description: string): string {
	const [what = ""] = description.split(/(?<= (?:s|min)): /);
	return withoutNumbers(
		what.replace(/^(hung|slow: no step) for [\d a-z]+?(?= at |,|$)/, HANG),
	);
}

/** Whether its workers may have done what makes no step: none was stopped, none called another collective. */
export function mayBePhase(fingerprint: string): boolean {
	return /^hang(?:, no suspect| at [^;]* in [^:;]*;)/.test(fingerprint);
}

/** Numbers, addresses and digests differ from one failure to the next. */
function withoutNumbers(text: string): string {
	return text.replace(/0x[\da-f]+|\b(?=[a-f]*\d)[\da-f]{6,}\b|\d+/gi, "#");
}
