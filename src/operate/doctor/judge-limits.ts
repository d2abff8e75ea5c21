import { type Finding, fine, problem, warning } from "./finding.js";
import type { Limit } from "./limits.js";
import { inBytes } from "./sizes.js";

/** Files that the launcher opens for itself, and per worker: its logs while they are shown. */
const OWN_FILES = 64;
const FILES_A_WORKER = 4;
/** Each thread of a process counts: a Node.js worker has eleven, and other programs here have some too. */
const OWN_TASKS = 32;
const TASKS_A_WORKER = 16;
const NO_LIMIT = Number.POSITIVE_INFINITY;

export function judgeOpenFiles(
	limit: Limit | undefined,
	workers: number,
): Finding {
	const check = "open files";
	if (limit === undefined) return fine(check, "no limit is known");
	// Node.js raises its soft limit to the hard one, and its children inherit that.
	const { hard } = limit;
	const needed = OWN_FILES + FILES_A_WORKER * workers;
	const message = `${countOf(hard)} may be open; ${workers} workers need ${needed} of the launcher`;
	return hard >= needed
		? fine(check, message)
		: problem(check, message, `raise the hard limit: ulimit -Hn ${needed}`);
}

export interface ProcessCounts {
	/** The user's limit: `ulimit -u`. */
	readonly user: Limit | undefined;
	/** The control group's limit; undefined if it has none. */
	readonly group: { readonly most: number; readonly now: number } | undefined;
	/** The user may exceed the limit: root, on Linux. */
	readonly isPrivileged: boolean;
}

export function judgeProcesses(
	{ user, group, isPrivileged }: ProcessCounts,
	workers: number,
): Finding {
	const check = "processes";
	const needed = OWN_TASKS + TASKS_A_WORKER * workers;
	const ofUser = isPrivileged ? NO_LIMIT : (user?.soft ?? NO_LIMIT);
	const ofGroup = group === undefined ? NO_LIMIT : group.most - group.now;
	const message = `room for ${countOf(Math.min(ofUser, ofGroup))} processes and threads; ${workers} workers need about ${needed}`;
	if (ofGroup < needed) {
		return problem(
			check,
			message,
			"raise the control group's limit: docker run --pids-limit, or pids.max",
		);
	}
	return ofUser < needed
		? problem(check, message, `raise the user's limit: ulimit -u ${needed}`)
		: fine(check, message);
}

export interface InotifyFacts {
	readonly instances: number;
	readonly watches: number;
	/** The system's error if none could be had now. */
	readonly refusal: string | undefined;
}

/** The launcher uses watchers; its workers have doorbells. */
export function judgeInotify(facts: InotifyFacts | undefined): Finding {
	const check = "inotify";
	if (facts === undefined) return fine(check, "not of this system");
	const { instances, watches, refusal } = facts;
	const limits = `a user may have ${instances} instances and ${watches} watches`;
	return refusal === undefined
		? fine(check, limits)
		: warning(
				check,
				`${limits}, and none is left (${refusal}): what workers say is found by polling, which is slower`,
				`sysctl fs.inotify.max_user_instances=${Math.max(512, 2 * instances)}`,
			);
}

export interface MemoryFacts {
	/** Bytes; Infinity without a limit. */
	readonly limit: number;
	readonly canCountKills: boolean;
}

export function judgeMemory({ limit, canCountKills }: MemoryFacts): Finding {
	const check = "memory";
	const message = Number.isFinite(limit)
		? `the control group may use ${inBytes(limit)}`
		: "the control group has no limit";
	return canCountKills
		? fine(check, `${message}; its out-of-memory kills are counted`)
		: warning(
				check,
				`${message}; its out-of-memory kills cannot be read, so that a worker's SIGKILL cannot be explained by them`,
				"make /sys/fs/cgroup readable here (a mount of the container)",
			);
}

function countOf(limit: number): string {
	return Number.isFinite(limit) ? String(limit) : "any number of";
}
