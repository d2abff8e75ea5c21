import { createHmac } from "node:crypto";
import { readlinkSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import { attempt, textAt } from "../base/attempt.js";
import { systemErrorCode } from "../base/errors.js";
import { isLiving, readProcess } from "../base/process-stat.js";
import { JsonFields } from "./json-fields.js";

/** In hexadecimal digits. */
const MACHINE_ID_LENGTH = 16;
const NO_ADDRESS = "00:00:00:00:00:00";

/** Tells one process of this machine from every other, past or future. A field is `""` if the system does not say. */
export interface ProcessIdentity {
	readonly pid: number;
	/** In clock ticks since the machine was started. */
	readonly startTime: string;
	/** A different one after each boot. */
	readonly bootId: string;
	/** The pid namespace (container) in which its pid counts. */
	readonly pidNamespace: string;
}

export function ownIdentity(): ProcessIdentity {
	return {
		pid: process.pid,
		startTime: String(readProcess(process.pid)?.startTime ?? ""),
		bootId: (textAt("/proc/sys/kernel/random/boot_id") ?? "").trim(),
		pidNamespace: pidsOf(namespace("pid"), namespace("time")),
	};
}

/** The time namespace of a machine itself, the same on all. */
const TIME_OF_MACHINE = "time:[4026531834]";

/** In another time namespace the kernel gives the same processes other start times: their pids do not tell who is who. */
export function pidsOf(pids: string, time: string): string {
	const isUsual = pids === "" || time === "" || time === TIME_OF_MACHINE;
	return isUsual ? pids : `${pids} ${time}`;
}

function namespace(kind: "pid" | "time" | "net"): string {
	return attempt(() => readlinkSync(`/proc/self/ns/${kind}`)) ?? "";
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

/** Whether a process is certainly gone. A process of another pid namespace cannot be seen and counts as alive. */
export function isDead(
	identity: ProcessIdentity,
	observer: ProcessIdentity,
): boolean {
	if (identity.bootId !== observer.bootId) return true;
	return identity.pidNamespace === observer.pidNamespace && isGone(identity);
}

/**
 * Names the set of processes visible from this one: pids mean the same wherever it is equal. On Linux that is boot and
 * pid namespace. Elsewhere there are no such namespaces, and it is the machine's name and network cards. `""` if neither
 * is known.
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

/** The pid namespace of a machine itself, the same on all: inside no container. */
const PIDS_OF_MACHINE = "pid:[4026531836]";

/** Names this machine in all of its boots; `""` if it has no name, or this process is in a container, which may have any. */
export function machineIdOf({ pidNamespace }: ProcessIdentity): string {
	if (pidNamespace !== PIDS_OF_MACHINE) return "";
	const text = textAt("/etc/machine-id") ?? "";
	const id = /^[0-9a-f]{32}$/.exec(text.trim())?.[0];
	// The machine's own name is not for others.
	const digest = id && createHmac("sha256", id).update("elastic-run");
	return digest ? digest.digest("hex").slice(0, MACHINE_ID_LENGTH) : "";
}

/** Names the network namespace of this process, within one boot; `""` if the system does not say. */
export function networkNamespace(): string {
	return namespace("net");
}

/** Tells machines apart where the system does not name its boots. */
export interface MachineNames {
	readonly platform: string;
	readonly hostName: string;
	/** The hardware addresses of its network cards. */
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

/** Whether no visible process is this one. A process hidden from this user counts as present. */
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
