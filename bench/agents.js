import { spawn } from "node:child_process";
import { once } from "node:events";
import { CLI, PYTHON } from "./launchers.js";

/** Python scripts run under the Python that takes part in the bench. */
const ENVIRONMENT = { PYTHON_EXEC: PYTHON };

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
