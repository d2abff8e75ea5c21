import { readFileSync, readlinkSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import { systemErrorCode } from "../errors.js";
import { isLiving, readProcess } from "../process-stat.js";
import { JsonFields } from "./json-fields.js";

const NO_ADDRESS = "00:00:00:00:00:00";

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
	return identity.pidNamespace === observer.pidNamespace && isGone(identity);
}

/**
 * Names the processes that can be seen from this one: pids mean the same
 * wherever it is the same. On Linux the machine's boot and the pid namespace;
 * elsewhere, where there are no such namespaces, the machine by its name and
 * its network cards. `""` where neither is known.
 */
export function hostIdOf(
	{ bootId, pidNamespace }: ProcessIdentity,
	machine: MachineNames = namesOfMachine(),
): string {
	if (bootId !== "" && pidNamespace !== "") return `${bootId} ${pidNamespace}`;
	const { platform, hostName, hardwareAddresses } = machine;
	if (platform === "linux" || hardwareAddresses.length === 0) return "";
	return [hostName, ...new Set([...hardwareAddresses].sort())].join(" ");
}

/** What tells one machine from another where the system does not name its boots. */
export interface MachineNames {
	readonly platform: string;
	readonly hostName: string;
	/** Of its network cards. */
	readonly hardwareAddresses: readonly string[];
}

function namesOfMachine(): MachineNames {
	return {
		platform: process.platform,
		hostName: hostname(),
		hardwareAddresses: Object.values(networkInterfaces())
			.flatMap((addresses) => addresses ?? [])
			.filter(({ internal, mac }) => !internal && mac !== NO_ADDRESS)
			.map(({ mac }) => mac),
	};
}

/** Whether no process that can be seen from here is this one. One that is hidden from this user counts as there. */
export function isGone({
	pid,
	startTime,
}: Pick<ProcessIdentity, "pid" | "startTime">): boolean {
	const found = readProcess(pid);
	if (found === undefined) return !isSignallable(pid);
	return (
		!isLiving(found) ||
		(startTime !== "" && String(found.startTime) !== startTime)
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
