import { constants } from "node:os";

/** Unhandled, each of these would end a process at once, although it seldom asks for that. */
const NAMES = [
	"SIGALRM",
	"SIGIO",
	"SIGPROF",
	"SIGPWR",
	"SIGSTKFLT",
	"SIGVTALRM",
	"SIGXCPU",
] as const;

/** Those that this system has: macOS lacks some. */
export const DEADLY_SIGNALS: readonly NodeJS.Signals[] = NAMES.filter(
	(signal) => Object.hasOwn(constants.signals, signal),
);
