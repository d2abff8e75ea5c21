import { readFileSync, readlinkSync } from "node:fs";
import { systemErrorCode } from "../errors.js";
import { isLiving, readProcess } from "../process-stat.js";
import { JsonFields } from "./json-fields.js";

/** What tells one process of this machine from every other, before and after it. `""` where the system does not say. */
export interface ProcessIdentity {
	readonly pid: number;
	/** In clock ticks since the machine was started. */
	readonly startTime: string;
	/** Another one after each start of the machine. */
	readonly bootId: string;
	/** Which containers' processes its pid counts among. */
	readonly pidNamespace: string;
}

export function ownIdentity(): ProcessIdentity {
	return {
		pid: process.pid,
		startTime: String(readProcess(process.pid)?.startTime ?? ""),
		bootId: textOrEmpty(() =>
			readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
		),
		pidNamespace: textOrEmpty(() => readlinkSync("/proc/self/ns/pid")),
	};
}

export function encodeIdentity(identity: ProcessIdentity): string {
	return JSON.stringify({
		version: 1,
		pid: identity.pid,
		start_time: identity.startTime,
		boot_id: identity.bootId,
		pid_namespace: identity.pidNamespace,
	});
}

/** Throws an error that names the field that is wrong. */
export function decodeIdentity(text: string): ProcessIdentity {
	const fields = JsonFields.parse(text);
	return {
		pid: fields.integer("pid"),
		startTime: fields.text("start_time"),
		bootId: fields.text("boot_id"),
		pidNamespace: fields.text("pid_namespace"),
	};
}

/** Whether a process is certainly gone. One of another pid namespace cannot be seen from here, and counts as alive. */
export function isDead(
	identity: ProcessIdentity,
	observer: ProcessIdentity,
): boolean {
	if (identity.bootId !== observer.bootId) return true;
	if (identity.pidNamespace !== observer.pidNamespace) return false;
	if (identity.startTime === "") return !isSignallable(identity.pid);
	const process = readProcess(identity.pid);
	return (
		process === undefined ||
		String(process.startTime) !== identity.startTime ||
		!isLiving(process)
	);
}

function isSignallable(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch (error) {
		return systemErrorCode(error) === "EPERM";
	}
}

function textOrEmpty(read: () => string): string {
	try {
		return read();
	} catch {
		return "";
	}
}
