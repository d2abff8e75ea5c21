import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { controlGroupPaths } from "../../processes/index.js";

const PROGRAM_WITHIN_MS = 5_000;
const GUARD_NEEDS = ["grep", "sleep", "rm", "tr"];

/** The bounds of a count; Infinity without a limit. */
export interface Limit {
	readonly soft: number;
	readonly hard: number;
}

export interface ProcessCounts {
	/** The user's limit: `ulimit -u`. */
	readonly user: Limit | undefined;
	/** The control group's limit; undefined if it has none. */
	readonly group: { readonly most: number; readonly now: number } | undefined;
	/** The user may exceed the limit: root, on Linux. */
	readonly isPrivileged: boolean;
}

export function readOpenFiles(): Limit | undefined {
	return parseLimit(read("/proc/self/limits"), "Max open files");
}

export function readProcessCounts(): ProcessCounts {
	const most = readPids("pids.max");
	const now = readPids("pids.current");
	return {
		user: parseLimit(read("/proc/self/limits"), "Max processes"),
		group: most === undefined || now === undefined ? undefined : { most, now },
		isPrivileged: process.getuid?.() === 0,
	};
}

/** The guard's programs that are not on `path`; undefined without a shell. */
export async function findMissingGuardTools(
	path: string | undefined,
): Promise<readonly string[] | undefined> {
	const script = `for tool in ${GUARD_NEEDS.join(" ")}; do command -v $tool >/dev/null || echo $tool; done`;
	const missing = await outputOf("/bin/sh", ["-c", script], { PATH: path });
	return missing?.split("\n").filter((name) => name !== "");
}

const DESCRIBE_PYTHON = `
import importlib.util, platform, sys
torch = "torch" if importlib.util.find_spec("torch") else "no torch"
print(sys.executable, platform.python_version(), "with", torch)`;

/** The Python that would run scripts, in words; undefined if there is none. */
export async function findPython({
	PATH,
	HOME,
	PYTHON_EXEC,
}: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
	const args = ["-c", DESCRIBE_PYTHON];
	const env = { PATH, HOME };
	return (await outputOf(PYTHON_EXEC || "python3", args, env))?.trim();
}

/** Undefined if the program is missing or fails. */
function outputOf(
	file: string,
	args: readonly string[],
	env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
	return new Promise((resolve) => {
		const options = { env, timeout: PROGRAM_WITHIN_MS };
		execFile(file, args, options, (error, stdout) =>
			resolve(error === null ? stdout : undefined),
		);
	});
}

/** One limit from the text of /proc/PID/limits, by its name there; undefined if it has none. */
export function parseLimit(text: string, name: string): Limit | undefined {
	const line = text.split("\n").find((words) => words.startsWith(`${name} `));
	const [soft, hard] = line?.slice(name.length).trim().split(/\s+/) ?? [];
	return soft === undefined || hard === undefined
		? undefined
		: { soft: parseCount(soft), hard: parseCount(hard) };
}

function readPids(file: string): number | undefined {
	const names = { controller: "pids", v2: file, v1: file } as const;
	return controlGroupPaths(read("/proc/self/cgroup"), names)
		.map((path) => parseCount(read(path)))
		.find((count) => !Number.isNaN(count));
}

/** A count, where "max" and "unlimited" mean no limit; NaN for any other text. */
function parseCount(text: string): number {
	const word = text.trim();
	if (word === "max" || word === "unlimited") return Number.POSITIVE_INFINITY;
	return /^\d+$/.test(word) ? Number(word) : Number.NaN;
}

/** Empty if it cannot be read. */
function read(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
