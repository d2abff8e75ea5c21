import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { CLI, PYTHON } from "./launchers.js";
import { familyOf } from "./processes.js";

/** Python scripts run under the Python that takes part in the bench. */
const ENVIRONMENT = { PYTHON_EXEC: PYTHON };
/** What a launcher that is asked to end gets for it. */
const ENDS_WITHIN_MS = 15_000;

/**
 * Runs the built launcher once with each of these argument lists, all at the same time.
 * @param {readonly (readonly string[])[]} commands
 * @param {number} longestMs they are killed after so long
 * @returns {Promise<string[]>} what each has said; rejects unless all end well
 */
export async function runAgents(commands, longestMs) {
	const agents = commands.map((args) => startAgent(args));
	const late = setTimeout(() => {
		for (const { child } of agents) child.kill("SIGKILL");
	}, longestMs);
	const ends = await Promise.all(agents.map(({ ended }) => ended));
	clearTimeout(late);
	for (const { code, stderr } of ends) {
		if (code === 0) continue;
		throw new Error(`an agent ended with ${code}: ${stderr.slice(-2_000)}`);
	}
	return ends.map(({ stderr }) => stderr);
}

/** Starts the built launcher; it ends with the bench. */
export function startAgent(args) {
	const child = spawn(process.execPath, [CLI, ...args], {
		env: { ...process.env, ...ENVIRONMENT },
		stdio: ["ignore", "ignore", "pipe"],
	});
	const abandon = () => child.kill("SIGKILL");
	process.prependListener("exit", abandon);
	let stderr = "";
	child.stderr.setEncoding("utf8").on("data", (text) => {
		stderr += text;
	});
	const ended = once(child, "close").then(([code, signal]) => {
		process.off("exit", abandon);
		return { code: code ?? signal, stderr };
	});
	return { child, ended };
}

/**
 * Ends a launcher by SIGTERM, or after a while by SIGKILL, with all that it has started.
 * @param {import("node:child_process").ChildProcess} child
 */
export async function endLauncher(child) {
	const { pid, exitCode, signalCode } = child;
	if (pid === undefined || exitCode !== null || signalCode !== null) return;
	const ended = once(child, "exit");
	child.kill("SIGTERM");
	const late = setTimeout(() => {
		for (const one of familyOf(pid)) process.kill(one, "SIGKILL");
	}, ENDS_WITHIN_MS);
	await ended;
	clearTimeout(late);
}

/**
 * Waits for something that the workers of these launchers do.
 * @param {string} what in words
 * @param {() => boolean} isSo
 * @param {readonly { child: import("node:child_process").ChildProcess, said: string }[]} launchers all must live
 * @param {number} longestMs
 */
export async function until(what, isSo, launchers, longestMs) {
	const latest = performance.now() + longestMs;
	const fail = (problem) => {
		const words = launchers.map(({ said }) => said.slice(-1_500));
		throw new Error(`${problem}\n${words.join("\n---\n")}`);
	};
	while (!isSo()) {
		if (launchers.some(({ child }) => child.exitCode !== null)) {
			fail(`a launcher ended before ${what}`);
		}
		if (performance.now() > latest)
			fail(`not within ${longestMs / 1_000} s: ${what}`);
		await sleep(5);
	}
}
