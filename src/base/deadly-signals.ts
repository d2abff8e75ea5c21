import { constants } from "node:os";

/** Unhandled, each of these would end a process at once. A user who sends one to a launcher wants its end. */
const WISHES = ["SIGALRM", "SIGIO", "SIGPWR", "SIGSTKFLT", "SIGXCPU"] as const;

/** A runtime sends these to itself, to count time or to profile: nobody wishes anything. Unhandled, they end it, too. */
const RUNTIME = ["SIGPROF", "SIGVTALRM"] as const;

/** Those that this system has: macOS lacks some. */
export const DEADLY_SIGNALS: readonly NodeJS.Signals[] = WISHES.filter(isKnown);
export const RUNTIME_SIGNALS: readonly NodeJS.Signals[] =
	RUNTIME.filter(isKnown);

function isKnown(signal: NodeJS.Signals): boolean {
	return Object.hasOwn(constants.signals, signal);
}
