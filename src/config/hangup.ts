import {
	constants as fileConstants,
	readFileSync,
	readlinkSync,
} from "node:fs";
import { constants, devNull } from "node:os";
import { basename } from "node:path";

/** The bits of a descriptor's flags that tell whether it is open for reading, writing, or both. */
const ACCESS_MODE = 3;

/** The traces of how this process was started. */
export interface Origin {
	readonly environment: Readonly<Record<string, string | undefined>>;
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
