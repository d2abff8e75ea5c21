import {
	linkSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { systemErrorCode } from "../base/errors.js";
import { readProcess } from "../base/process-stat.js";
import { hookPaths } from "./layout.js";
import { isGone } from "./process-identity.js";

/** Other processes may claim it in between; after so many tries this one gives up. */
const TRIES = 4;

/**
 * Makes this process the owner of its worker's hook, unless it is owned by a living one. Throws the system's error. The
 * hook for Python does the same.
 */
export function claimHook(hook: string): boolean {
	const { owner } = hookPaths(hook);
	const candidate = `${owner}.${process.pid}`;
	const startTime = readProcess(process.pid)?.startTime ?? "";
	writeFileSync(candidate, `${process.pid} ${startTime}\n`, { mode: 0o600 });
	try {
		for (let tries = TRIES; tries > 0; tries--) {
			// Appears with its content, and never replaces another's.
			if (isLinked(candidate, owner)) return true;
			const found = readOwner(owner);
			if (!isOfDead(found)) return false;
			setAside(owner, found, `${candidate}.old`);
		}
		return false;
	} finally {
		rmSync(candidate, { force: true });
	}
}

function isLinked(file: string, name: string): boolean {
	try {
		linkSync(file, name);
		return true;
	} catch (error) {
		if (systemErrorCode(error) === "EEXIST") return false;
		throw error;
	}
}

/** Empty if it was set aside meanwhile. */
function readOwner(owner: string): string {
	try {
		return readFileSync(owner, "utf8");
	} catch (error) {
		if (systemErrorCode(error) === "ENOENT") return "";
		throw error;
	}
}

function isOfDead(owner: string): boolean {
	const [, pid, startTime = ""] = /^(\d+) (\d*)$/m.exec(owner) ?? [];
	return pid === undefined || isGone({ pid: Number(pid), startTime });
}

/** Takes the file of a dead owner away, but leaves that of one which has come in between. */
function setAside(owner: string, dead: string, aside: string): void {
	try {
		renameSync(owner, aside);
	} catch (error) {
		if (systemErrorCode(error) === "ENOENT") return;
		throw error;
	}
	if (readOwner(aside) !== dead) isLinked(aside, owner);
	rmSync(aside, { force: true });
}
