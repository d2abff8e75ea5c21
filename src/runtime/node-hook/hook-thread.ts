/** What runs in the hook's thread: it waits for the launcher's question, and answers with the main thread's stack. */
import { appendFileSync, readFileSync, watch } from "node:fs";
import { basename } from "node:path";
import { workerData } from "node:worker_threads";
import { hookPaths, replaceFile } from "../../channel/index.js";
import { askMainThread } from "./ask-main-thread.js";
import { answerInWords } from "./stack-text.js";

const hook = String(workerData);
const paths = hookPaths(hook);
let answered = 0;
let isAsking = false;

watch(hook, (_, name) => {
	if (name === null || name === basename(paths.ask)) look();
});
// The question may have come before the watch.
look();
replaceFile(
	paths.ready,
	`${JSON.stringify({ version: 1, kind: "node", pid: process.pid, signal: null, torch_socket: null })}\n`,
	hook,
);

function look(): void {
	const question = readQuestion();
	if (isAsking || !(question > answered)) return;
	isAsking = true;
	askMainThread((answer) => {
		appendFileSync(paths.stack, answerInWords(question, answer), {
			mode: 0o600,
		});
		answered = question;
		isAsking = false;
		look();
	});
}

/** NaN if there is none. */
function readQuestion(): number {
	try {
		return Number.parseInt(readFileSync(paths.ask, "utf8"), 10);
	} catch {
		return Number.NaN;
	}
}
