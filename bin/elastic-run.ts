#!/usr/bin/env node
// The entry. It uses only syntax that old versions of Node can read, so that they can report that they are too old.
import { setFlagsFromString } from "node:v8";
import { closeUnaskedInspector } from "../src/base/unasked-inspector.js";

const OLDEST_MAJOR = 20;
const OLDEST_MINOR = 19;

const version = process.versions.node;
const [major, minor] = version.split(".").map(Number);

if (
	Number(major) < OLDEST_MAJOR ||
	(Number(major) === OLDEST_MAJOR && Number(minor) < OLDEST_MINOR)
) {
	refuse(
		`Node >= ${OLDEST_MAJOR}.${OLDEST_MINOR} is needed (this is ${version}); install a newer one`,
	);
} else if (process.platform === "win32") {
	refuse("Windows is not supported; use Linux, for example under WSL");
} else {
	closeUnaskedInspector();
	// Keeps the young generation small: 9 MB less memory, and less that each fork makes slow to write to. Set before the
	// modules fill it.
	setFlagsFromString("--semi-space-growth-factor=1");
	// A user's pattern, such as /^(a+)+$/, may backtrack for hours: a linear engine then takes over.
	setFlagsFromString(
		"--enable-experimental-regexp-engine-on-excessive-backtracks",
	);
	start().catch(refuseUnreadable);
}

async function start(): Promise<void> {
	if (mayHaveLostBytes()) {
		const { refuseLostBytes } = await import("./own-bytes.js");
		const exitCode = refuseLostBytes(process.argv.slice(2));
		if (exitCode !== undefined) {
			process.exitCode = exitCode;
			return;
		}
	}
	if (process.pid === 1) {
		const { runBelowReaper } = await import("./below-reaper.js");
		if (runBelowReaper()) return;
	}
	const main = await import("./main.js");
	main.main(process.argv.slice(2));
}

/** The usual report is a module as well, which could not be read either. */
function refuseUnreadable(error: unknown): void {
	const code = error instanceof Error && "code" in error ? error.code : "";
	if (code !== "EMFILE" && code !== "ENFILE") throw error;
	refuse(
		`its own files cannot be read (${code}); the limit of open files (ulimit -n) is too low: raise it, for example with ulimit -n 4096`,
		75,
	);
}

function refuse(message: string, exitCode = 2): void {
	process.stderr.write(`elastic-run: ${message}\n`);
	process.exitCode = exitCode;
}

/** Whether Node may have replaced bytes that are not UTF-8 in what this process was given. */
function mayHaveLostBytes(): boolean {
	const variables = Object.entries(process.env).flat();
	return [...process.argv, ...variables].join().includes("\ufffd");
}
