import { say } from "./console.js";
import { hurryToExit } from "./exit.js";

/** The two wishes that signals express, and how to stop listening for them. */
export interface StopSignals {
	/** Aborted by the first signal, with `{ signal }` as its reason. */
	readonly stop: AbortSignal;
	/** Aborted by the second. */
	readonly kill: AbortSignal;
	/** The run is over: all that a signal ends from now on is the wait for who reads what was written. */
	release(): void;
}

/**
 * The first of these signals asks for a graceful stop, the second for an immediate one.
 * @param isHangupIgnored a SIGHUP that is not among them is ignored
 */
export function listenForStopSignals(
	signals: readonly NodeJS.Signals[],
	isHangupIgnored: boolean,
): StopSignals {
	const stop = new AbortController();
	const kill = new AbortController();
	const onStop = (signal: NodeJS.Signals) => {
		if (stop.signal.aborted) {
			say(`${signal} again: killing the workers`);
			kill.abort({ signal });
			hurryToExit();
			return;
		}
		say(`${signal}: stopping the workers; a second signal kills them at once`);
		stop.abort({ signal });
	};
	const onSuspend = () => say("suspending is not supported; going on");
	const onHangup = () => say("SIGHUP is ignored, as nohup has it; going on");
	for (const signal of signals) process.on(signal, onStop);
	// Not released: what is left to do after the run outlives the terminal, too.
	if (isHangupIgnored && !signals.includes("SIGHUP")) {
		process.on("SIGHUP", onHangup);
	}
	if (!signals.includes("SIGTSTP")) process.on("SIGTSTP", onSuspend);
	return {
		stop: stop.signal,
		kill: kill.signal,
		release() {
			for (const signal of signals) {
				process.on(signal, hurryToExit);
				process.off(signal, onStop);
			}
			process.off("SIGTSTP", onSuspend);
		},
	};
}
