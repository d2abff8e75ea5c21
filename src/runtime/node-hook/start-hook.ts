import { rmSync } from "node:fs";
import { isMainThread, Worker } from "node:worker_threads";
import {
	claimHook,
	hookPaths,
	ownIdentity,
	replaceFile,
} from "../../channel/index.js";
import { hookDirectory } from "../environment.js";
import { messageAndType } from "../error-description.js";
import { sharedState } from "../shared-state.js";

/** The program of hook-thread.ts: the build puts it in, so that no file is looked for. */
declare const HOOK_THREAD: string;

/** In MiB: the thread only reads a stack. */
const RESOURCE_LIMITS = {
	maxYoungGenerationSizeMb: 2,
	maxOldGenerationSizeMb: 64,
};

/**
 * Tells the launcher of an uncaught error, and starts the thread that tells the main thread's stack when the launcher asks
 * for it, once in a process, and only in the first living process of a worker. The thread starts at once, because the
 * script may block as its first act.
 */
export function startHook(): void {
	const hook = hookDirectory();
	const state = sharedState();
	if (hook === undefined || state.hasHook || !isMainThread) return;
	state.hasHook = true;
	try {
		if (!claimHook(hook)) return;
		tellExceptions(hook);
		startThread(hook);
	} catch {
		// A worker runs without its hook rather than not at all.
	}
}

function startThread(hook: string): void {
	const { ready, steps, exception } = hookPaths(hook);
	// Of an owner that is dead.
	for (const stale of [ready, steps, exception]) rmSync(stale, { force: true });
	const thread = new Worker(HOOK_THREAD, {
		eval: true,
		name: "elastic-run hook",
		workerData: hook,
		// Nothing that the script was given is loaded or printed by it.
		argv: [],
		execArgv: [],
		env: {},
		stdout: true,
		stderr: true,
		resourceLimits: RESOURCE_LIMITS,
	});
	// Without a listener its error would be one of the script.
	thread.on("error", () => {});
	thread.unref();
}

/** In characters. */
const LONGEST_TYPE = 200;
const LONGEST_MESSAGE = 4_000;
const LONGEST_STACK = 30_000;

/** From now on leaves an uncaught error for the launcher before anybody prints it; Node's reaction to it stays the same. */
function tellExceptions(hook: string): void {
	process.on("uncaughtExceptionMonitor", (error) => {
		try {
			const text = `${JSON.stringify(noteOf(error))}\n`;
			replaceFile(hookPaths(hook).exception, text, hook);
		} catch {
			// An error here must not hide the one that ends this process.
		}
	});
}

/** The content of exception.json: docs/channel.md. */
function noteOf(error: unknown) {
	const { pid, startTime } = ownIdentity();
	const { type, message } = messageAndType(error);
	const stack = error instanceof Error ? String(error.stack ?? "") : "";
	return {
		...{ version: 1, kind: "node", pid, start_time: startTime, thread: null },
		// A listener of the program's own may let it go on.
		ends: process.listenerCount("uncaughtException") === 0,
		type: type === null ? null : type.slice(0, LONGEST_TYPE),
		message: message.slice(0, LONGEST_MESSAGE),
		stack: stack.slice(0, LONGEST_STACK),
	};
}
