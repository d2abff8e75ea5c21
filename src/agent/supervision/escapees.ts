import type { Clock } from "../../clock.js";
import {
	isLiving,
	type ProcessEntry,
	readProcess,
} from "../../process-stat.js";
import { MarkedProcesses } from "./marked-processes.js";

/** From SIGTERM to SIGKILL: what the guard grants at the end of the launcher. */
const GRACE_MS = 1_000;
const LOOK_EVERY_MS = 50;
/** How long it is waited for those that cannot be asked whose they are: who writes to a disk can soon. */
const UNDECIDED_MS = 500;
/** A process that is still there so long after SIGKILL is stuck in the kernel. */
const GIVEN_UP_AFTER_MS = 5_000;

export interface EscapeesOptions {
	readonly clock: Clock;
	/** What the environment of every worker holds: see `agentMark`. */
	readonly mark: string;
	/** Is told in words of those that were found, and of those that do not end. */
	readonly warn: (message: string) => void;
}

/** Processes of workers that left their worker's process group, by setsid as daemons do, and outlived it. */
export interface Escapees {
	/**
	 * Ends all that there are now: SIGTERM, a second later SIGKILL. Only to be called when
	 * no worker runs. Calls back when none is left or they are given up: at once where there are none.
	 */
	end(onEnded: () => void): void;
	/** Cuts the grace short; no effect while none are being ended. */
	kill(): void;
}

/** They hold what the next round needs (a device, a port), and nobody is told of their end. */
export function watchEscapees(options: EscapeesOptions): Escapees {
	const marked = new MarkedProcesses(options.mark);
	let current: Ending | undefined;
	return {
		end(onEnded) {
			current = new Ending(options, marked, () => {
				current = undefined;
				onEnded();
			});
			current.look();
		},
		kill: () => current?.kill(),
	};
}

class Ending {
	readonly #options: EscapeesOptions;
	readonly #marked: MarkedProcesses;
	readonly #onEnded: () => void;
	readonly #decidedBy: number;
	#left: readonly ProcessEntry[] = [];
	/** When SIGTERM has had its time: not before the first one is found. */
	#killAt = Number.POSITIVE_INFINITY;
	#givenUpAt = Number.POSITIVE_INFINITY;
	#cancelLook: () => void = () => {};

	constructor(
		options: EscapeesOptions,
		marked: MarkedProcesses,
		onEnded: () => void,
	) {
		this.#options = options;
		this.#marked = marked;
		this.#onEnded = onEnded;
		this.#decidedBy = options.clock.now() + UNDECIDED_MS;
	}

	kill(): void {
		this.#killAt = this.#options.clock.now();
		this.#cancelLook();
		this.look();
	}

	look(): void {
		const now = this.#options.clock.now();
		this.#left = this.#left.filter(lives);
		// Those that ended may have started others meanwhile.
		const isDone = this.#left.length === 0 && !this.#findMore(now);
		if (isDone) {
			this.#onEnded();
		} else if (now >= this.#givenUpAt) {
			this.#giveUp();
		} else {
			if (now >= this.#killAt) this.#killAll(now);
			this.#lookLater();
		}
	}

	/** Returns false where none is left, as far as can be told. */
	#findMore(now: number): boolean {
		const { found, isUndecided } = this.#marked.find();
		this.#left = found;
		if (found.length === 0) return isUndecided && now < this.#decidedBy;
		this.#options.warn(
			`processes that left their worker's process group live on, and are ended: ${pidsOf(found)}`,
		);
		this.#killAt = Math.min(this.#killAt, now + GRACE_MS);
		signalAll(found, "SIGTERM");
		return true;
	}

	#lookLater(): void {
		const { clock } = this.#options;
		this.#cancelLook = clock.wakeAt(clock.now() + LOOK_EVERY_MS, () =>
			this.look(),
		);
	}

	#killAll(now: number): void {
		signalAll(this.#left, "SIGKILL");
		this.#givenUpAt = Math.min(this.#givenUpAt, now + GIVEN_UP_AFTER_MS);
	}

	#giveUp(): void {
		this.#options.warn(
			`not gone ${GIVEN_UP_AFTER_MS / 1000} s after SIGKILL, stuck in the kernel, though they left their worker's process group: ${pidsOf(this.#left)}; look at what they wait for (/proc/PID/stack)`,
		);
		this.#onEnded();
	}
}

function lives({ pid, startTime }: ProcessEntry): boolean {
	const entry = readProcess(pid);
	return entry?.startTime === startTime && isLiving(entry);
}

function signalAll(
	processes: readonly ProcessEntry[],
	signal: "SIGTERM" | "SIGKILL",
): void {
	for (const { pid } of processes) {
		try {
			process.kill(pid, signal);
		} catch {
			// It ended meanwhile, or is another user's.
		}
	}
}

function pidsOf(processes: readonly ProcessEntry[]): string {
	return processes.map(({ pid }) => `pid ${pid}`).join(", ");
}
