import { constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { accessProblem } from "../base/access-problem.js";
import type { ElasticRunErrorCode } from "../base/errors.js";

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Why a command cannot be run, and its error code. */
export interface CommandProblem {
	readonly code: Extract<
		ElasticRunErrorCode,
		"USAGE" | "COMMAND_NOT_FOUND" | "COMMAND_NOT_EXECUTABLE"
	>;
	readonly message: string;
}

/** Thrown while looking for a command; never leaves this folder. */
export class Refusal extends Error {
	readonly problem: CommandProblem;

	constructor(code: CommandProblem["code"], message: string) {
		super(message);
		this.problem = { code, message };
	}
}

/** Where to look for programs. */
export interface SearchPlace {
	readonly cwd: string;
	/** Its PATH is searched. */
	readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The absolute path of a program. A name with a slash is a path; other names are looked up on PATH. */
export async function findProgram(
	name: string,
	{ cwd, environment }: SearchPlace,
): Promise<string> {
	if (name.includes("/")) return checkProgram(name, resolve(cwd, name));
	let denied: string | undefined;
	for (const directory of (environment.PATH ?? DEFAULT_PATH).split(delimiter)) {
		const path = resolve(cwd, directory, name);
		const problem = await accessProblem(path, constants.X_OK);
		if (problem === undefined) return path;
		if (problem === "denied") denied ??= path;
	}
	if (denied !== undefined) throw notExecutable(denied);
	throw await notOnPath(name, cwd);
}

async function checkProgram(name: string, path: string): Promise<string> {
	const problem = await accessProblem(path, constants.X_OK);
	if (problem === undefined) return path;
	if (problem === "directory" || problem === "special")
		throw noFileRefusal(name, problem);
	if (problem === "denied") throw notExecutable(name);
	throw new Refusal(
		"COMMAND_NOT_FOUND",
		`command "${name}" not found; check the path`,
	);
}

async function notOnPath(name: string, cwd: string): Promise<Refusal> {
	const here = await accessProblem(join(cwd, name), constants.F_OK);
	if (here === "directory" || here === "special")
		return noFileRefusal(name, here);
	return new Refusal(
		"COMMAND_NOT_FOUND",
		here === undefined
			? `command "${name}" not found on PATH; a file of this name is in ${cwd}: use ./${name}`
			: `command "${name}" not found on PATH, nor as a script in ${cwd}; check the name`,
	);
}

export function noFileRefusal(
	name: string,
	kind: "directory" | "special",
): Refusal {
	const what =
		kind === "directory" ? "a directory" : "a pipe, a socket or a device";
	return new Refusal(
		"USAGE",
		`"${name}" is ${what}; give a script or a command`,
	);
}

function notExecutable(name: string): Refusal {
	return new Refusal(
		"COMMAND_NOT_EXECUTABLE",
		`"${name}" is not executable; use chmod +x, or put its interpreter before it`,
	);
}
