import { constants as fileConstants, fstatSync, readlinkSync } from "node:fs";
import { access } from "node:fs/promises";
import {
	availableParallelism,
	constants,
	devNull,
	hostname,
	tmpdir,
	userInfo,
} from "node:os";
import { basename, resolve } from "node:path";
import { isatty } from "node:tty";
import { attempt, textAt } from "../base/attempt.js";
import { ElasticRunError, messageOf } from "../base/errors.js";
import { externalAddresses } from "./local-address.js";
import type { Environment } from "./settings.js";

/** What resolving a configuration needs to know about the machine and this process. */
export interface Host {
	readonly environment: Environment;
	readonly cwd: string;
	readonly hostName: string;
	readonly userName: string;
	readonly temporaryDirectory: string;
	readonly processors: number;
	/** Addresses by which other machines may reach this one, in the system's order, IPv4 before IPv6. */
	readonly addresses: readonly string[];
	/** The running Node.js: its program, version, and whether it runs TypeScript. */
	readonly node: {
		readonly file: string;
		readonly version: string;
		readonly runsTypeScript: boolean;
	};
	/** What kind of stdin a worker would read. */
	readonly stdin: StdinKind;
	/** Whether this process was started to outlive its terminal, as with nohup. */
	readonly isHangupIgnored: boolean;
}

/** The real machine and process, with the given environment. */
export function systemHost(environment: Host["environment"]): Host {
	return {
		environment,
		cwd: currentDirectory(),
		hostName: hostname(),
		userName: currentUserName(),
		temporaryDirectory: tmpdir(),
		processors: availableParallelism(),
		addresses: externalAddresses(),
		node: {
			file: process.execPath,
			version: process.versions.node,
			runsTypeScript:
				"typescript" in process.features &&
				Boolean(process.features.typescript),
		},
		stdin: ownStdin(),
		isHangupIgnored: isHangupIgnored(readOrigin(environment)),
	};
}

/** A shell's working directory may have been removed. */
function currentDirectory(): string {
	try {
		return process.cwd();
	} catch (error) {
		throw new ElasticRunError(
			"USAGE",
			`the working directory no longer exists (${messageOf(error)}); change to another one`,
			{ cause: error },
		);
	}
}

/** A user id that is missing from the system's list of users has no name. */
function currentUserName(): string {
	return (
		attempt(() => userInfo().username) ??
		`uid-${process.getuid?.() ?? "unknown"}`
	);
}

/** The bits of a descriptor's flags that tell whether it is open for reading, writing, or both. */
const ACCESS_MODE = 3;

/** The traces of how this process was started. */
export interface Origin {
	readonly environment: Environment;
	/** /proc/PID/status of the parent; undefined without /proc. */
	readonly parentStatus: string | undefined;
	/** Standard input is the null device, open for writing only. */
	readonly isInputUnreadable: boolean;
}

/**
 * Whether this process must outlive its terminal. `nohup` ignores SIGHUP, but Node resets that at start. Three traces
 * remain: the shell's `_`; stdin, which `nohup` makes unreadable if it was a terminal; and the parent, which passes on
 * the signals that it ignores.
 */
export function isHangupIgnored({
	environment,
	parentStatus,
	isInputUnreadable,
}: Origin): boolean {
	if (basename(environment._ ?? "") === "nohup" || isInputUnreadable)
		return true;
	const [, mask] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(parentStatus ?? "") ?? [];
	const bit = 1n << BigInt(constants.signals.SIGHUP - 1);
	return mask !== undefined && (BigInt(`0x${mask}`) & bit) !== 0n;
}

/** Reads the traces from the kernel, if there is a /proc. */
function readOrigin(environment: Origin["environment"]): Origin {
	return {
		environment,
		parentStatus: textAt(`/proc/${process.ppid}/status`),
		isInputUnreadable: isNullForWriting(),
	};
}

function isNullForWriting(): boolean {
	const info = textAt("/proc/self/fdinfo/0") ?? "";
	const [, flags = "0"] = /^flags:\s*([0-7]+)$/m.exec(info) ?? [];
	const isForWriting =
		(Number.parseInt(flags, 8) & ACCESS_MODE) === fileConstants.O_WRONLY;
	return isForWriting && readlinkSync("/proc/self/fd/0") === devNull;
}

/** The kind of the launcher's stdin. A terminal counts only if this process is in its foreground. */
type StdinKind = "terminal" | "pipe" | "other";

const STDIN = 0;

function ownStdin(): StdinKind {
	try {
		if (isatty(STDIN)) return isInForeground() ? "terminal" : "other";
		const stdin = fstatSync(STDIN);
		return stdin.isFIFO() || stdin.isSocket() ? "pipe" : "other";
	} catch {
		return "other";
	}
}

/** Whether stdin holds input for the launcher: a pipe or a file, not a terminal or /dev/null. */
export function isStdinGiven(): boolean {
	const stdin = attempt(() => fstatSync(STDIN));
	return (
		stdin !== undefined &&
		(stdin.isFIFO() || stdin.isSocket() || stdin.isFile())
	);
}

/** A background command must not take input that the user types for the shell. */
function isInForeground(): boolean {
	const text = textAt("/proc/self/stat");
	// Without /proc nothing says otherwise.
	if (text === undefined) return true;
	const fields = text.slice(text.lastIndexOf(") ") + 2).split(" ");
	const [group, foreground] = [fields[2], fields[5]];
	return group === foreground;
}

/**
 * The parent of the channel directories: `$ELASTIC_RUN_DIR`, else `$XDG_RUNTIME_DIR`, else the system's temporary
 * directory. `$XDG_RUNTIME_DIR` is skipped if it belongs to another user, as after `su`.
 */
export async function channelBase(host: Host): Promise<string> {
	const { ELASTIC_RUN_DIR, XDG_RUNTIME_DIR } = host.environment;
	if (ELASTIC_RUN_DIR) return resolve(host.cwd, ELASTIC_RUN_DIR);
	// It is removed at logout, which a run under nohup must outlive.
	if (host.isHangupIgnored) return host.temporaryDirectory;
	if (XDG_RUNTIME_DIR && (await isWritable(XDG_RUNTIME_DIR))) {
		return resolve(host.cwd, XDG_RUNTIME_DIR);
	}
	return host.temporaryDirectory;
}

async function isWritable(path: string): Promise<boolean> {
	return access(path, fileConstants.W_OK | fileConstants.X_OK).then(
		() => true,
		() => false,
	);
}
