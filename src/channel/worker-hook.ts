import {
	linkSync,
	readFileSync,
	renameSync,
	rmdirSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { systemErrorCode } from "../base/errors.js";
import { readProcess } from "../base/process-stat.js";
import { JsonFields } from "./json-fields.js";
import { hookPaths, SHORT_SOCKET_DIRECTORY } from "./layout.js";
import { isGone } from "./process-identity.js";

/**
 * A Node process that is started before its place is known waits at a pipe of the launcher. It gets its environment as one
 * line of JSON, answers with a line feed, and closes the pipe. Then it is the worker. It ends if the pipe ends.
 */

/** Tells the process that it has to wait, and for whom: the launcher's pid. */
export const PARKED_BY = "ELASTIC_RUN_PARKED_BY";

/** The descriptor of the pipe: high, so that Node and the script find the low ones free. */
export const PARKING_DESCRIPTOR = 100;

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

/** Removes the short directory of a torch socket that a worker which was killed has left outside of its channel. */
export function removeShortSocket(hook: string): void {
	try {
		const ready = JsonFields.parse(readFileSync(hookPaths(hook).ready, "utf8"));
		const socket = ready.text("torch_socket");
		const directory = dirname(socket);
		if (!SHORT_SOCKET_DIRECTORY.test(basename(directory))) return;
		rmSync(socket, { force: true });
		rmdirSync(directory);
	} catch {
		// There is none, or it is gone.
	}
}
