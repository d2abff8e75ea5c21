import { type Debugger, type Runtime, Session } from "node:inspector";
import { systemClock } from "../../base/clock.js";
import type { Answer, Frame } from "./stack-text.js";

/** How long the main thread has for its answer, in milliseconds; native code cannot be interrupted. */
const PATIENCE_MS = 1_000;

type Evaluated = Runtime.EvaluateReturnType;

const OWN_URL = "elastic-run:active-resources";
const ACTIVE_RESOURCES = `process.getActiveResourcesInfo() //# sourceURL=${OWN_URL}`;

/**
 * Pauses the main thread for the moment that its stack takes, and tells what it does. A pause that is asked for takes
 * effect when JavaScript runs next. So a question follows it, which the event loop answers when it waits: whichever
 * comes first tells whether JavaScript ran.
 */
export function askMainThread(tell: (answer: Answer) => void): void {
	const session = new Session();
	let isTold = false;
	const tellOnce = (answer: Answer) => {
		if (isTold) return;
		isTold = true;
		cancel();
		tell(answer);
	};
	const end = () => {
		session.post("Debugger.disable");
		session.disconnect();
	};
	const cancel = systemClock.wakeAt(systemClock.now() + PATIENCE_MS, () => {
		tellOnce({ kind: "silent" });
		// The main thread takes this together with the pause, which then has no effect: nobody is left to resume it.
		end();
	});
	const urls = new Map<string, string>();
	session.connectToMainThread();
	session.on("Debugger.scriptParsed", ({ params }) => {
		urls.set(params.scriptId, params.url);
	});
	session.on("Debugger.paused", ({ params }) => {
		session.post("Debugger.resume");
		const frames = framesOf(params.callFrames, urls);
		if (frames.length > 0) tellOnce({ kind: "running", frames });
	});
	session.post("Debugger.enable");
	session.post("Debugger.pause", (refused: Error | null) => {
		// The session has ended.
		if (refused !== null) return;
		const question = { expression: ACTIVE_RESOURCES, returnByValue: true };
		const onAnswer = (error: Error | null, answer: Evaluated) => {
			const resources = error === null ? textsIn(answer) : undefined;
			if (isTold && error !== null) return;
			tellOnce({ kind: "waiting", resources });
			// Not before: a late pause must be resumed.
			end();
		};
		session.post("Runtime.evaluate", question, onAnswer);
	});
}

function framesOf(
	frames: readonly Debugger.CallFrame[],
	urls: ReadonlyMap<string, string>,
): Frame[] {
	return frames
		.map(({ functionName, location }) => ({
			functionName,
			url: urls.get(location.scriptId) ?? "",
			lineNumber: location.lineNumber,
			columnNumber: location.columnNumber ?? 0,
		}))
		.filter(({ url }) => url !== OWN_URL);
}

function textsIn({ result }: Evaluated): string[] | undefined {
	const value: unknown = result.value;
	return Array.isArray(value) ? value.map(String) : undefined;
}
