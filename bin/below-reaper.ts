import { spawn } from "node:child_process";
import { accessSync, constants as fileConstants } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What can adopt and reap orphans, in order of preference, with the program's arguments. */
const REAPERS = [
	["python3", "-I", "-S", "reaper.py"],
	["perl", "reaper.pl"],
] as const;
/** Nobody can catch the first two, and the others say something about this process or its terminal. */
const NOT_PASSED_ON = new Set(
	"KILL STOP CHLD PROF SEGV BUS FPE ILL ABRT IOT TRAP TSTP TTIN TTOU"
		.split(" ")
		.map((name) => `SIG${name}`),
);

/**
 * As process 1 this program would be the parent of all orphans, and Node reaps only what it spawned. So it runs itself
 * once more, below a process that reaps.
 * @returns false if it is not process 1, or the image has nothing that reaps
 */
export function runBelowReaper(): boolean {
	if (process.pid !== 1) return false;
	const reaper = findReaper(process.env.PATH ?? "");
	if (reaper === undefined) return false;
	const [file, ...args] = reaper;
	const again = [
		...[process.execPath, ...process.execArgv],
		...process.argv.slice(1),
	];
	const child = spawn(file, [...args, ...again], { stdio: "inherit" });
	for (const name of signalNames()) {
		process.on(name, () => child.kill(name));
	}
	child.on("error", ({ message }) => {
		process.stderr.write(`elastic-run: ${file}: ${message}\n`);
		process.exitCode = 1;
	});
	child.on("exit", (code, signal) => {
		process.exit(code ?? 128 + constants.signals[signal ?? "SIGKILL"]);
	});
	return true;
}

function signalNames(): readonly NodeJS.Signals[] {
	const names = Object.keys(constants.signals) as NodeJS.Signals[];
	return names.filter((name) => !NOT_PASSED_ON.has(name));
}

/** The first one that is on this PATH. */
function findReaper(path: string): readonly [string, ...string[]] | undefined {
	for (const [name, ...args] of REAPERS) {
		const file = path
			.split(":")
			.map((folder) => join(folder, name))
			.find(isProgram);
		if (file === undefined) continue;
		const script = args.at(-1) ?? "";
		const at = fileURLToPath(new URL(`../reaper/${script}`, import.meta.url));
		return [file, ...args.slice(0, -1), at];
	}
	return undefined;
}

function isProgram(file: string): boolean {
	try {
		accessSync(file, fileConstants.X_OK);
		return true;
	} catch {
		return false;
	}
}
