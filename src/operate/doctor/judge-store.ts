import { loopbackTrouble } from "../../config/resolve-store.js";
import { type Finding, fine, problem, warning } from "./finding.js";

/** Older versions lack the transactions that agents need, or have unreliable ones. */
const OLDEST_ETCD = [3, 4] as const;
/** Agents contact it a few times per round. */
const SLOW_READ_MS = 100;
const SEVERAL_NODES = 2;

/** The facts about an etcd; `undefined` if unknown. */
export interface StoreFacts {
	readonly endpoints: readonly string[];
	/** Why it could not be read, in words. */
	readonly unreadable: string | undefined;
	/** "3.4.23" */
	readonly version: string | undefined;
	/** How long each of a few reads took. */
	readonly readsMs: readonly number[];
	/** The prefix for this machine's agents. */
	readonly prefix: string;
	/** Why nothing could be written there, in words. */
	readonly unwritable: string | undefined;
}

const CHECK = "etcd";

/** `facts`: undefined if no endpoint was named. */
export function judgeStore(facts: StoreFacts | undefined): Finding {
	if (facts === undefined) {
		return fine(CHECK, "none was named; a run of one machine needs none");
	}
	const { endpoints, unreadable, unwritable, version, prefix } = facts;
	if (unreadable !== undefined) {
		return problem(
			CHECK,
			unreadable,
			"start it, or correct --rdzv-endpoint or --rdzv-conf",
		);
	}
	const named = `${endpoints.join(", ")} runs ${version ?? "an unknown version"}`;
	if (version !== undefined && isTooOld(version)) {
		return problem(
			CHECK,
			`${named}, which is too old`,
			`install ${OLDEST_ETCD.join(".")} or newer`,
		);
	}
	if (unwritable !== undefined) {
		return problem(
			CHECK,
			`${named}; nothing can be written below ${prefix} (${unwritable})`,
			`grant its user readwrite on the prefix ${prefix}`,
		);
	}
	return judgeSpeed(facts, named);
}

function judgeSpeed(
	{ endpoints, readsMs, prefix }: StoreFacts,
	named: string,
): Finding {
	const readMs = median(readsMs);
	const message = `${named}, reads take ${readMs.toFixed(1)} ms, ${prefix} can be written`;
	if (readMs > SLOW_READ_MS) {
		return warning(
			CHECK,
			`${message}: restarts take longer`,
			"run it nearer, or on a faster disk",
		);
	}
	const trouble = loopbackTrouble({ endpoints, maxNodes: SEVERAL_NODES });
	return trouble === undefined
		? fine(CHECK, message)
		: warning(CHECK, message, trouble);
}

function median(numbers: readonly number[]): number {
	const sorted = [...numbers].sort((left, right) => left - right);
	return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function isTooOld(version: string): boolean {
	const [major = 0, minor = 0] = version.split(".").map(Number);
	const [oldestMajor, oldestMinor] = OLDEST_ETCD;
	return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
