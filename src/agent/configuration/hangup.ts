import {
	constants as fileConstants,
	readFileSync,
	readlinkSync,
} from "node:fs";
import { constants, devNull } from "node:os";
import { basename } from "node:path";

/** The bits of a descriptor's flags that say whether it is for reading, for writing, or for both. */
const ACCESS_MODE = 3;

/** What is left of how this process was started. */
export interface Origin {
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** /proc/PID/status of the parent; undefined without /proc. */
	readonly parentStatus: string | undefined;
	/** Standard input is the null device, opened for writing alone. */
	readonly isInputUnreadable: boolean;
}

/**
 * Whether this process is to outlive its terminal. That SIGHUP is ignored, as
 * `nohup` has it, is forgotten when Node starts: it is seen by the shell's `_`;
 * by the input, which `nohup` makes unreadable where it was a terminal; or by the
 * parent, which passes on what it ignores itself.
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

/** Reads what the kernel knows of it, where there is a /proc. */
export function readOrigin(environment: Origin["environment"]): Origin {
	return {
		environment,
		parentStatus: readOrUndefined(`/proc/${process.ppid}/status`),
		isInputUnreadable: isNullForWriting(),
	};
}

function isNullForWriting(): boolean {
	const info = readOrUndefined("/proc/self/fdinfo/0") ?? "";
	const [, flags = "0"] = /^flags:\s*([0-7]+)$/m.exec(info) ?? [];
	const isForWriting =
		(Number.parseInt(flags, 8) & ACCESS_MODE) === fileConstants.O_WRONLY;
	return isForWriting && readlinkSync("/proc/self/fd/0") === devNull;
}

function readOrUndefined(path: string): string | undefined {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return undefined;
	}
}
