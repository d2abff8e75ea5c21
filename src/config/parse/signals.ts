import { constants } from "node:os";
import { didYouMean } from "../../base/nearest-name.js";
import {
	allOf,
	mapParsed,
	ok,
	type Parsed,
	problem,
	quote,
} from "./scalars.js";

/** Signals that the kernel lets nobody handle. */
const UNCATCHABLE: readonly string[] = ["SIGKILL", "SIGSTOP"];

/** Signals that the kernel, a terminal or a runtime sends about a child, a window, a job, a socket or time. None asks for an end. */
const UNMEANT: readonly string[] = [
	"SIGCHLD",
	"SIGCONT",
	"SIGIO",
	"SIGPIPE",
	"SIGPOLL",
	"SIGPROF",
	"SIGTTIN",
	"SIGTTOU",
	"SIGURG",
	"SIGVTALRM",
	"SIGWINCH",
];

/** `SIGTERM,INT`: names with or without SIG, upper or lower case. */
export function parseSignals(text: string): Parsed<readonly NodeJS.Signals[]> {
	const parts = text.split(",").map((name) => parseSignal(name.trim()));
	return mapParsed(allOf(parts), (signals) => [...new Set(signals)]);
}

/** Any signal's name, with or without SIG, upper or lower case. Of several names, as SIGIOT and SIGABRT, that of an exit. */
export function parseAnySignal(name: string): Parsed<NodeJS.Signals> {
	const signal = `SIG${name.trim().toUpperCase().replace(/^SIG/, "")}`;
	if (isSignal(signal))
		return ok(signalOf(constants.signals[signal]) ?? signal);
	const numbered = /^\d+$/.test(name) ? signalOf(Number(name)) : undefined;
	const meant =
		numbered === undefined
			? didYouMean(signal, Object.keys(constants.signals))
			: `; did you mean ${numbered}?`;
	return problem(
		`${quote(name)} is not a signal; use for example SIGKILL${meant}`,
	);
}

/** The name that Node gives a signal by which a process has ended. */
function signalOf(number: number): NodeJS.Signals | undefined {
	return Object.keys(constants.signals)
		.filter(isSignal)
		.find((name) => constants.signals[name] === number);
}

function parseSignal(name: string): Parsed<NodeJS.Signals> {
	const signal = `SIG${name.toUpperCase().replace(/^SIG/, "")}`;
	if (!isSignal(signal)) {
		return problem(
			`${quote(name)} is not a signal; use names separated by commas, for example SIGTERM,SIGINT${didYouMean(signal, Object.keys(constants.signals))}`,
		);
	}
	if (UNCATCHABLE.includes(signal)) {
		return problem(`${signal} cannot be handled by any process; leave it out`);
	}
	if (UNMEANT.includes(signal)) {
		return problem(
			`${signal} does not ask for an end, but would end the run; leave it out`,
		);
	}
	return ok(signal);
}

function isSignal(name: string): name is NodeJS.Signals {
	return Object.hasOwn(constants.signals, name);
}
