import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { CLI, type CliOptions, type CliResult, environmentOf } from "./cli.js";

const HOST = fileURLToPath(new URL("../fixtures/cli-host.js", import.meta.url));

/** Runs a command line to its end. */
type RunLine = (
	args: readonly string[],
	options: Pick<CliOptions, "cwd" | "env">,
) => Promise<CliResult>;

/**
 * For tables of command lines that only print or are refused: it runs them as `runCli` does, but all lines of a file in
 * one process of the built command, which costs a hundredth. To be called once in a file.
 */
export function cliHost(): RunLine {
	let host: ChildProcess | undefined;
	let last: Promise<unknown> = Promise.resolve();
	afterAll(() => host?.kill("SIGKILL"));
	return (args, { cwd, env }) => {
		host ??= fork(HOST, [CLI], {
			// None is a pipe, which the command would open again.
			stdio: ["ignore", "ignore", "ignore", "ipc"],
			env: {},
		});
		const process = host;
		const result = last.then(() =>
			answerOf(process, { args, cwd, env: environmentOf(env) }),
		);
		last = result.catch(() => {});
		return result;
	};
}

function answerOf(host: ChildProcess, line: object): Promise<CliResult> {
	return new Promise((resolve, reject) => {
		const onExit = () => reject(new Error("the process of all lines ended"));
		host.once("exit", onExit);
		host.once("message", (result: CliResult) => {
			host.off("exit", onExit);
			resolve(result);
		});
		host.send(line);
	});
}
