import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { basename } from "node:path";

/**
 * Whether this process is to outlive its terminal. That SIGHUP is ignored, as
 * `nohup` has it, is forgotten when Node starts: it is seen by the shell's `_`,
 * or by the parent, which passes on what it ignores itself.
 */
export function isHangupIgnored(
	environment: Readonly<Record<string, string | undefined>>,
	parentStatus: string | undefined,
): boolean {
	if (basename(environment._ ?? "") === "nohup") return true;
	const [, mask] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(parentStatus ?? "") ?? [];
	const bit = 1n << BigInt(constants.signals.SIGHUP - 1);
	return mask !== undefined && (BigInt(`0x${mask}`) & bit) !== 0n;
}

/** /proc/PID/status of the parent; undefined without /proc. */
export function readParentStatus(): string | undefined {
	try {
		return readFileSync(`/proc/${process.ppid}/status`, "utf8");
	} catch {
		return undefined;
	}
}
