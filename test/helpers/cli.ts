import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The built command. */
export const CLI = fileURLToPath(
	new URL("../../dist/bin/elastic-run.js", import.meta.url),
);

/** The tests leave no record of a run in the user's home. */
const NO_RECORDS = { XDG_STATE_HOME: "/dev/null" };

export interface CliResult {
	readonly exitCode: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

export interface CliOptions {
	readonly cwd: string;
	/** Laid over a bare environment: PATH, HOME. */
	readonly env?: Readonly<Record<string, string>>;
	/** Flags of Node's own. */
	readonly nodeArgs?: readonly string[];
	/** The user to run as. */
	readonly uid?: number;
}

interface RunningCli {
	readonly child: ChildProcess;
	/** What it has written so far. */
	readonly output: { stdout: string; stderr: string };
	readonly ended: Promise<CliResult>;
}

/** The environment of a command that is given these variables. */
export function environmentOf(
	env: CliOptions["env"] = {},
): Readonly<Record<string, string>> {
	const { PATH = "", HOME = "" } = process.env;
	return { PATH, HOME, ...NO_RECORDS, ...env };
}

/** Starts the built command, with stdin closed. */
export function startCli(
	args: readonly string[],
	{ cwd, env = {}, nodeArgs = [], uid }: CliOptions,
): RunningCli {
	const child = spawn(process.execPath, [...nodeArgs, CLI, ...args], {
		cwd,
		env: environmentOf(env),
		stdio: ["ignore", "pipe", "pipe"],
		...(uid === undefined ? {} : { uid }),
	});
	const output = { stdout: "", stderr: "" };
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		output.stdout += text;
	});
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		output.stderr += text;
	});
	const ended = new Promise<CliResult>((resolve, reject) => {
		child.on("error", reject);
		child.on("close", (exitCode) => resolve({ exitCode, ...output }));
	});
	return { child, output, ended };
}

/** Runs the built command to its end. */
export function runCli(
	args: readonly string[],
	options: CliOptions,
): Promise<CliResult> {
	return startCli(args, options).ended;
}
