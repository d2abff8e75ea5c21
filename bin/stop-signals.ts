import { constants } from "node:os";
import { systemClock } from "../src/base/clock.js";
import { DEADLY_SIGNALS, RUNTIME_SIGNALS } from "../src/base/deadly-signals.js";
import { catches } from "../src/base/process-stat.js";
import type { AgentConfig } from "../src/config/index.js";
import { hurryToExit, say } from "./console.js";

/** What signals to the launcher request, and how to stop listening. */
export interface StopSignals {
	/** Aborted by the first signal, with `{ signal }` as its reason. */
	readonly stop: AbortSignal;
	/** Aborted by the second signal if the first one was a notice. */
	readonly insist: AbortSignal;
	/** Aborted by the signal after those. */
	readonly kill: AbortSignal;
	/** Requests a graceful stop, as SIGTERM does, and prints `why`. */
	leave(why: string): void;
	/** Calls `send` for each signal that is for the workers. */
	onPassedOn(send: (signal: NodeJS.Signals) => void): void;
	/** The run is over: from now on a signal only ends the wait for readers of the output. */
	release(): void;
}

/** Schedulers and trainers use these between each other: the workers get them unchanged. */
const FOR_WORKERS: readonly NodeJS.Signals[] = ["SIGUSR1", "SIGUSR2"];

/**
 * The first of these signals requests a graceful stop, the second an immediate one. Where SIGTERM comes with a time for
 * leaving, the first one is a notice, and the next two are these.
 * @param isHangupIgnored ignores SIGHUP unless the user wants it handled
 */
export function listenForStopSignals(
	{
		signalsToHandle: handled,
		notices,
	}: Pick<AgentConfig, "signalsToHandle" | "notices">,
	isHangupIgnored: boolean,
): StopSignals {
	const hasTime = notices.terminationGraceMs !== undefined;
	const meaning = new SignalMeaning(hasTime ? "SIGTERM" : undefined);
	const stop = new AbortController();
	const insist = new AbortController();
	const kill = new AbortController();
	const signals = [...new Set([...handled, ...DEADLY_SIGNALS])];
	const onStop = (signal: NodeJS.Signals) => {
		const request = meaning.take(signal, systemClock.now());
		if (request === "notice") {
			say(`${signal}: this machine will go; a second signal stops the workers`);
			stop.abort({ signal });
		} else if (request === "stop") {
			const next = stop.signal.aborted ? "third" : "second";
			say(
				`${signal}: stopping the workers; a ${next} signal kills them at once`,
			);
			(stop.signal.aborted ? insist : stop).abort({ signal });
		} else if (request === "kill") {
			say(`${signal}: killing the workers`);
			kill.abort({ signal });
			hurryToExit();
		}
	};
	const onReleased = (signal: NodeJS.Signals) => {
		if (meaning.take(signal, systemClock.now()) !== "same") hurryToExit();
	};
	for (const signal of signals) process.on(signal, onStop);
	outliveRuntime();
	const resume = outliveOthers(handled, isHangupIgnored);
	return {
		stop: stop.signal,
		insist: insist.signal,
		kill: kill.signal,
		leave(why) {
			if (stop.signal.aborted) return;
			say(`${why}: stopping the workers`);
			stop.abort({ signal: "SIGTERM" });
		},
		onPassedOn: (send) => passOn(handled, send),
		release() {
			for (const signal of signals) {
				process.on(signal, onReleased);
				process.off(signal, onStop);
			}
			resume();
		},
	};
}

/** Not released: the work after the run must survive these signals too. */
function passOn(
	handled: readonly NodeJS.Signals[],
	send: (signal: NodeJS.Signals) => void,
): void {
	for (const signal of FOR_WORKERS) {
		if (!handled.includes(signal)) process.on(signal, () => send(signal));
	}
}

/** Not released. Where the runtime has its own handler, as under --cpu-prof, another would take its signals away. */
function outliveRuntime(): void {
	for (const signal of RUNTIME_SIGNALS) {
		if (!catches(process.pid, constants.signals[signal]))
			process.on(signal, () => {});
	}
}

/** Ignores Ctrl-Z, and a closed terminal under nohup. Returns a function that makes Ctrl-Z suspend again. */
function outliveOthers(
	handled: readonly NodeJS.Signals[],
	isHangupIgnored: boolean,
): () => void {
	if (isHangupIgnored && !handled.includes("SIGHUP")) {
		// Not released, for the same reason.
		process.on("SIGHUP", () =>
			say("SIGHUP is ignored, as nohup has it; going on"),
		);
	}
	const onSuspend = () => say("suspending is not supported; going on");
	if (!handled.includes("SIGTSTP")) process.on("SIGTSTP", onSuspend);
	return () => process.off("SIGTSTP", onSuspend);
}

/**
 * npx, npm, `tini -g` and shells that forward signals deliver one Ctrl-C or SIGTERM twice, about 10 ms apart. Within this
 * time, in milliseconds, the same signal counts once.
 */
const ONE_REQUEST_MS = 1_000;

/** What a signal to the launcher requests. `notice`: to leave in order before the machine goes; `same`: nothing more. */
type StopRequest = "notice" | "stop" | "kill" | "same";

interface Taken {
	readonly signal: NodeJS.Signals;
	readonly at: number;
	readonly request: StopRequest;
}

/** Decides what a signal requests, given the earlier ones: each asks for more haste than the one before. */
export class SignalMeaning {
	private last: Taken | undefined;

	/** @param notice the signal that says that the machine will go, if any does */
	constructor(private readonly notice?: NodeJS.Signals) {}

	/** @param now in milliseconds */
	take(signal: NodeJS.Signals, now: number): StopRequest {
		if (this.last !== undefined && isSame(this.last, signal, now))
			return "same";
		const request = this.requestOf(signal);
		this.last = { signal, at: now, request };
		return request;
	}

	private requestOf(signal: NodeJS.Signals): StopRequest {
		const before = this.last?.request;
		if (before === undefined && signal === this.notice) return "notice";
		return before === undefined || before === "notice" ? "stop" : "kill";
	}
}

function isSame(last: Taken, signal: NodeJS.Signals, now: number): boolean {
	const isKill = last.request === "kill";
	return !isKill && signal === last.signal && now - last.at < ONE_REQUEST_MS;
}
