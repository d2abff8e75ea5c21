import { constants, realpathSync } from "node:fs";
import { stat } from "node:fs/promises";
import { createRequire } from "node:module";
import {
	basename,
	delimiter,
	dirname,
	extname,
	isAbsolute,
	join,
	resolve,
} from "node:path";
import { pathToFileURL } from "node:url";
import { accessProblem } from "../base/access-problem.js";
import type { ElasticRunErrorCode } from "../base/errors.js";
import { packageFile, packageVersion } from "../base/package-files.js";
import type { AgentConfig, WorkerCommand } from "./agent-config.js";
import type { Host } from "./host.js";
import { OPTIONS } from "./options.js";
import type { Environment, SettingReader } from "./settings.js";

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Why a command cannot be run, and its error code. */
export interface CommandProblem {
	readonly code: Extract<
		ElasticRunErrorCode,
		"USAGE" | "COMMAND_NOT_FOUND" | "COMMAND_NOT_EXECUTABLE"
	>;
	readonly message: string;
}

/** Thrown while looking for a command; never leaves this file. */
class Refusal extends Error {
	readonly problem: CommandProblem;

	constructor(code: CommandProblem["code"], message: string) {
		super(message);
		this.problem = { code, message };
	}
}

/** Where to look for programs. */
interface SearchPlace {
	readonly cwd: string;
	/** Its PATH is searched. */
	readonly environment: Environment;
}

/** The absolute path of a program. A name with a slash is a path; other names are looked up on PATH. */
async function findProgram(
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

function noFileRefusal(name: string, kind: "directory" | "special"): Refusal {
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

/** The longest argument that Linux passes to a program (MAX_ARG_STRLEN), including its terminator. */
const LONGEST_ARGUMENT_BYTES = 131_072;

/** What the user asked to run. */
export interface CommandRequest extends SearchPlace {
	readonly script: string;
	readonly args: readonly string[];
	/** Run it without an interpreter, whatever its ending. */
	readonly asItIs: boolean;
	/** `script` is the name of a Python module. */
	readonly isModule: boolean;
	/** Scripts that run under Node load the launcher's hook. */
	readonly hasHook: boolean;
	readonly node: Host["node"];
}

/** The program and its arguments, checked; or the first problem. */
export async function resolveCommand(
	request: CommandRequest,
): Promise<WorkerCommand | CommandProblem> {
	try {
		if (request.script === "") {
			throw new Refusal(
				"USAGE",
				"no command given; give a script or a command",
			);
		}
		await checkDirectory(request.cwd);
		checkArguments(request.args);
		if (request.isModule) return await moduleCommand(request);
		const prefix = request.asItIs ? undefined : await interpreter(request);
		const [file, args] =
			prefix === undefined
				? [await findProgram(request.script, request), request.args]
				: [
						prefix.file,
						[...prefix.args, asPath(request.script), ...request.args],
					];
		const typed = [request.script, ...request.args];
		return { file, args, cwd: request.cwd, display: request.script, typed };
	} catch (error) {
		if (error instanceof Refusal) return error.problem;
		throw error;
	}
}

async function moduleCommand(request: CommandRequest): Promise<WorkerCommand> {
	const { script, args, cwd, asItIs } = request;
	if (asItIs) {
		throw new Refusal(
			"USAGE",
			"--module cannot be combined with --no-node (--no-python); leave one of them out",
		);
	}
	const file = await findPython(request);
	const typed = ["-m", script, ...args];
	return { file, args: ["-u", ...typed], cwd, display: script, typed };
}

/** A name that begins with a dash would be an option of the interpreter. */
function asPath(script: string): string {
	return script.startsWith("-") ? `./${script}` : script;
}

interface Interpreter {
	readonly file: string;
	/** The arguments before the script. */
	readonly args: readonly string[];
}

/** The interpreter for a script of this name; undefined if the script is a program itself. */
async function interpreter(
	request: CommandRequest,
): Promise<Interpreter | undefined> {
	const file = request.node.file;
	switch (extname(request.script)) {
		case ".js":
		case ".mjs":
		case ".cjs":
			await checkScript(request);
			return { file, args: runtimeArguments(request) };
		case ".ts":
			await checkScript(request);
			return {
				file,
				args: [...typeScriptArguments(request), ...runtimeArguments(request)],
			};
		case ".py":
			await checkScript(request);
			return { file: await findPython(request), args: ["-u"] };
		default:
			return undefined;
	}
}

async function checkScript({ script, cwd }: CommandRequest): Promise<void> {
	const path = resolve(cwd, script);
	const problem = await accessProblem(path, constants.R_OK);
	if (problem === "missing") {
		throw new Refusal(
			"COMMAND_NOT_FOUND",
			`script "${script}" not found (looked in ${isAbsolute(script) ? dirname(script) : cwd}); check the path`,
		);
	}
	if (problem === "directory" || problem === "special")
		throw noFileRefusal(script, problem);
	if (problem === "denied") {
		throw new Refusal(
			"COMMAND_NOT_EXECUTABLE",
			`cannot read ${script}: permission denied; make it readable`,
		);
	}
}

/** What Node needs before a TypeScript script: nothing if it strips types, else the user's tsx. */
function typeScriptArguments({ script, cwd, node }: CommandRequest): string[] {
	if (node.runsTypeScript) return [];
	for (const directory of [dirname(resolve(cwd, script)), cwd]) {
		try {
			const tsx = createRequire(join(directory, "noop.js")).resolve("tsx");
			return ["--import", pathToFileURL(tsx).href];
		} catch {
			// Not installed for this directory.
		}
	}
	throw new Refusal(
		"USAGE",
		`${script} needs the package tsx on Node ${node.version}: npm install --save-dev tsx (Node >= 22.18 runs it directly)`,
	);
}

/**
 * What Node loads before a script: the launcher's hook, and what finds `elastic-run/runtime` if the script's project does
 * not have elastic-run.
 */
function runtimeArguments({ script, cwd, hasHook }: CommandRequest): string[] {
	// `--require` does not start Node's loader of ES modules, which takes longer than the hook.
	const hook = hasHook ? ["--require", nodeHook()] : [];
	try {
		const path = realpathSync(resolve(cwd, script));
		createRequire(path).resolve("elastic-run/package.json");
		return hook;
	} catch {
		const finder = packageFile("dist/src/runtime/find-package.js");
		return [...hook, "--import", pathToFileURL(finder).href];
	}
}

/** `$PYTHON_EXEC`, as with torchrun, else python3 on PATH. */
async function findPython(request: CommandRequest): Promise<string> {
	const { PYTHON_EXEC } = request.environment;
	try {
		return await findProgram(PYTHON_EXEC || "python3", request);
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		throw new Refusal(
			error.problem.code,
			PYTHON_EXEC
				? `environment PYTHON_EXEC: ${error.problem.message}`
				: `${request.script} needs python3, which is not on PATH; install it, or set PYTHON_EXEC`,
		);
	}
}

async function checkDirectory(cwd: string): Promise<void> {
	const found = await stat(cwd).catch(() => undefined);
	if (found?.isDirectory()) return;
	// What Node makes of bytes that are not UTF-8.
	const why = cwd.includes("\ufffd")
		? "has a name that is not UTF-8; rename it, or start from another one"
		: "is not there; create it";
	throw new Refusal("USAGE", `working directory ${cwd} ${why}`);
}

function checkArguments(args: readonly string[]): void {
	for (const [index, argument] of args.entries()) {
		if (argument.includes("\0")) {
			throw new Refusal(
				"USAGE",
				`argument ${index + 1} of the script contains a NUL byte; take it out`,
			);
		}
		if (Buffer.byteLength(argument) >= LONGEST_ARGUMENT_BYTES) {
			throw new Refusal(
				"USAGE",
				`argument ${index + 1} of the script is longer than 128 KiB, which the system refuses; put it in a file`,
			);
		}
	}
}

/** python, python3, python3.13t */
const INTERPRETER = /^python[\d.]*t?$/;

/** The directory that holds the package `elastic_run`, the Python runtime library, and nothing else. */
export function pythonLibrary(): string {
	return packageFile("dist/python");
}

/** The directory that holds the `sitecustomize` of the launcher's hook. */
export function pythonHook(): string {
	return packageFile("dist/python-hook");
}

/** The same library as a package for pip. */
export function pythonWheel(): string {
	const name = `elastic_run-${packageVersion()}-py3-none-any.whl`;
	return packageFile(`dist/python-wheel/${name}`);
}

const NODE_SCRIPTS = [".js", ".mjs", ".cjs", ".ts"];

/** What the settings and the command put on the PYTHONPATH of workers. */
export function pythonPaths(reader: SettingReader, script = "") {
	const isModule = reader.value(OPTIONS.module);
	const hasLibrary = !reader.value(OPTIONS.noPythonPath);
	const hasHook = !reader.value(OPTIONS.noHook);
	const isMaybe = isModule || mayStartPython(script);
	return {
		pythonPath:
			hasLibrary && (isModule || isPython(script))
				? pythonLibrary()
				: undefined,
		// Also for commands that are not Python by their name.
		pythonHook: hasHook && isMaybe ? pythonHook() : undefined,
	};
}

/** By default only what Python itself runs may start warm: other programs have no imports to be spared. */
export function warmStarts(
	reader: SettingReader,
	script = "",
): AgentConfig["warm"] {
	const isOurs = reader.value(OPTIONS.module) || isPython(script);
	return reader.given(OPTIONS.warm) ?? (isOurs ? "frugal" : "off");
}

/** Whether a script or command, as typed, may be Python or start it, as a shell script or `uv run` does. */
export function mayStartPython(script: string): boolean {
	return !NODE_SCRIPTS.includes(extname(script)) && basename(script) !== "node";
}

/** Whether a script or command, as typed, is Python: by its file ending or the interpreter's name. */
export function isPython(script: string): boolean {
	return extname(script) === ".py" || INTERPRETER.test(basename(script));
}

/** The file that Node loads before a script: the launcher's hook for Node. */
export function nodeHook(): string {
	return packageFile("dist/cjs/runtime/hook.js");
}
