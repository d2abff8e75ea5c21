// Where the demos of several nodes are played: whatever happens on it, nothing is
// left running, and nothing on the disk.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Nodes } from "./demo-nodes.js";

const LIMIT_MS = 180_000;
const SIGNALS = [
	[1, "SIGHUP"],
	[2, "SIGINT"],
	[15, "SIGTERM"],
];

/**
 * Plays `demo(nodes, folder)`, which resolves with the exit code; `hears(nodeId, line)` gets what its nodes print.
 * Ends with 128+n after a signal, with 1 where the demo fails, or nobody reads any more what it prints.
 */
export async function play(name, { hears, demo, limitMs = LIMIT_MS }) {
	const folder = mkdtempSync(join(tmpdir(), `elastic-run-${name}-`));
	const nodes = new Nodes(folder, hears);
	let cleaned;
	const cleanUp = () => {
		cleaned ??= nodes
			.stop()
			.finally(() => rmSync(folder, { recursive: true, force: true }));
		return cleaned;
	};
	const leave = async (exitCode) => {
		await cleanUp();
		process.exit(exitCode);
	};
	// A second one, too, waits until all is clean.
	for (const [number, signal] of SIGNALS)
		process.on(signal, () => leave(128 + number));
	process.stdout.on("error", () => leave(1));
	process.on("uncaughtException", (error) => {
		console.error(error);
		leave(1);
	});
	try {
		const over = [demo(nodes, folder), nodes.anEnd, patienceIsOver(limitMs)];
		process.exitCode = await Promise.race(over);
	} catch (error) {
		// Who was interrupted need not hear of what that has broken.
		if (cleaned === undefined) console.error(error.message);
		process.exitCode = 1;
	} finally {
		await cleanUp();
	}
}

/** Prints what was to come of a demo, [in words, whether it did]; the exit code. */
export function judge(checks) {
	for (const [what, holds] of checks)
		print(`${holds ? "ok    " : "FAILED"}  ${what}`);
	return checks.every(([, holds]) => holds) ? 0 : 1;
}

export function print(text) {
	process.stdout.write(`${text}\n`);
}

async function patienceIsOver(limitMs) {
	await sleep(limitMs, undefined, { ref: false });
	throw new Error(`The demo is not over after ${limitMs / 1000} s`);
}
