import { hookPaths, ownIdentity, replaceFile } from "../../channel/index.js";
import { messageAndType } from "../error-description.js";

/** In characters. */
const LONGEST_TYPE = 200;
const LONGEST_MESSAGE = 4_000;
const LONGEST_STACK = 30_000;

/** From now on leaves an uncaught error for the launcher before anybody prints it; Node's reaction to it stays the same. */
export function tellExceptions(hook: string): void {
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
