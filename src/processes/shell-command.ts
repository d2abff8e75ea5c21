import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Clock } from "../base/clock.js";

/** At most so many lines of its output are passed on. */
const MOST_LINES = 1_000;
/** The longest passed-on part of a line, in characters. */
const LONGEST_LINE = 2_000;
/** How long the rest of its output may take after its end, in milliseconds. */
const LAST_LINES_MS = 200;

export interface ShellCommand {
	/** For `sh -c`. */
	readonly command: string;
	readonly cwd: string;
	/** Default: that of this process. */
	readonly environment?: Readonly<Record<string, string | undefined>>;
	/** It reads this open file; undefined: nothing. */
	readonly inputFrom?: number | undefined;
	readonly timeoutMs: number;
	/** Ends it at once. */
	readonly stop: AbortSignal;
	readonly onLine: (line: string) => void;
	/** Its output goes to this open file instead, so that it can outlive this process. */
	readonly outputTo?: number | undefined;
	/** What it has left behind in its group lives on when it ends by itself: it may have started what it was asked for. */
	readonly leavesGroup?: boolean;
}

export type ShellEnd =
	| { readonly kind: "exited"; readonly exitCode: number }
	| { readonly kind: "signalled"; readonly signal: string }
	| { readonly kind: "timed-out" | "stopped" }
	| { readonly kind: "not-started"; readonly problem: string };

/**
 * Runs a user's command in a process group of its own. When it ends, for whatever reason, the whole group is killed, unless
 * `leavesGroup` says otherwise. Never rejects.
 */
export function runShell(
	{
		command,
		cwd,
		environment,
		timeoutMs,
		stop,
		onLine,
		inputFrom,
		outputTo,
		leavesGroup = false,
	}: ShellCommand,
	clock: Clock,
): Promise<ShellEnd> {
	if (stop.aborted) return Promise.resolve({ kind: "stopped" });
	const child = spawn("sh", ["-c", command], {
		cwd,
		env: environment,
		detached: true,
		stdio: [inputFrom ?? "ignore", outputTo ?? "pipe", outputTo ?? "pipe"],
	});
	// At the limit of open files they are undefined, and the error event tells why.
	const streams = [child.stdout, child.stderr].filter((one) => one != null);
	const closed = streams.map((stream) => passOn(stream, onLine));
	return new Promise((resolve) => {
		let isOver = false;
		const finish = (end: ShellEnd) => {
			if (isOver) return;
			isOver = true;
			cancel();
			stop.removeEventListener("abort", stopped);
			if (end.kind !== "exited" || !leavesGroup) killGroup(child);
			// A process that has left the group may keep the pipes open.
			const late = clock.wakeAt(clock.now() + LAST_LINES_MS, () => {
				for (const stream of streams) stream.destroy();
			});
			void Promise.all(closed).then(() => {
				late();
				resolve(end);
			});
		};
		const stopped = () => finish({ kind: "stopped" });
		const cancel = clock.wakeAt(clock.now() + timeoutMs, () =>
			finish({ kind: "timed-out" }),
		);
		stop.addEventListener("abort", stopped);
		child.once("error", ({ message }) =>
			finish({ kind: "not-started", problem: message }),
		);
		child.once("exit", (exitCode, signal) =>
			finish(
				signal === null
					? { kind: "exited", exitCode: exitCode ?? 1 }
					: { kind: "signalled", signal },
			),
		);
	});
}

/** Resolves when the stream has ended. */
function passOn(
	stream: NonNullable<ChildProcess["stdout"]>,
	onLine: (line: string) => void,
): Promise<void> {
	let lines = 0;
	const reader = createInterface({ input: stream });
	reader.on("line", (line) => {
		lines += 1;
		if (lines <= MOST_LINES) onLine(line.slice(0, LONGEST_LINE));
		else if (lines === MOST_LINES + 1)
			onLine("… (its other lines are left out)");
	});
	stream.on("error", () => {});
	return new Promise((resolve) => stream.once("close", () => resolve()));
}

function killGroup({ pid }: ChildProcess): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, "SIGKILL");
	} catch {
		// Nobody is left in it.
	}
}

/** "exit code 3", "killed by SIGSEGV". */
export function describeShellEnd(end: ShellEnd, timeoutMs: number): string {
	switch (end.kind) {
		case "exited":
			return `exit code ${end.exitCode}`;
		case "signalled":
			return `killed by ${end.signal}`;
		case "timed-out":
			return `not done after ${timeoutMs / 1000} s, and killed`;
		case "stopped":
			return "killed, because this agent was told to stop";
		case "not-started":
			return `sh cannot be started: ${end.problem}`;
		default:
			return end satisfies never;
	}
}
