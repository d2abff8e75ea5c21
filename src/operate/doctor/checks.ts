import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { formatCount } from "../../base/units.js";
import {
	countWorkers,
	endpointOf,
	type Host,
	listDeviceFiles,
	loopbackTrouble,
	type WorkerCount,
} from "../../config/index.js";
import { findSetpriv } from "../../processes/index.js";
import {
	findMissingGuardTools,
	findPython,
	type Limit,
	type ProcessCounts,
	probeStore,
	readOpenFiles,
	readProcessCounts,
	type StoreFacts,
	type StorePlace,
} from "./facts.js";
import { type LinkFacts, probeLink } from "./link.js";

export interface Finding extends Verdict {
	/** The subject: "open files". */
	readonly check: string;
}

interface Verdict {
	/** `warning`: runs work, but slower or less safely. `problem`: they do not work. */
	readonly status: "ok" | "warning" | "problem";
	readonly message: string;
	/** What to do; undefined if all is well. */
	readonly fix?: string;
}

interface Machine {
	readonly host: Host;
	readonly clock: Clock;
	/** How many workers the launcher would have. */
	readonly workers: number;
	readonly store: StorePlace | undefined;
}

interface Check<Facts> {
	readonly name: string;
	readonly find: (machine: Machine) => Facts | Promise<Facts>;
	readonly judge: (facts: Facts, workers: number) => Verdict;
}

/** In reading order. */
const CHECKS = [
	row({ name: "open files", find: readOpenFiles, judge: judgeOpenFiles }),
	row({ name: "processes", find: readProcessCounts, judge: judgeProcesses }),
	row({
		name: "setpriv",
		find: ({ host }) => findSetpriv(host.environment.PATH),
		judge: judgeSetpriv,
	}),
	row({
		name: "guard",
		find: ({ host }) => findMissingGuardTools(host.environment.PATH),
		judge: judgeGuard,
	}),
	row({
		name: "Python",
		find: ({ host }) => findPython(host.environment),
		judge: (found) =>
			fine(found ?? "none; only .py scripts need one (PYTHON_EXEC, or PATH)"),
	}),
	row({
		name: "etcd",
		find: ({ store, clock }) => store && probeStore(store, clock),
		judge: judgeStore,
	}),
	row({
		name: "links",
		find: ({ store, clock }) => store && probeLink(store, clock),
		judge: judgeLink,
	}),
];

/**
 * Checks what a launcher with `asked` workers needs of this machine, and the etcd if one is named. Takes at most some
 * seconds, and leaves nothing behind.
 */
export async function examineMachine(
	host: Host,
	clock: Clock,
	asked: WorkerCount,
	store?: StorePlace,
): Promise<readonly Finding[]> {
	const { environment, processors } = host;
	const deviceFiles = await listDeviceFiles();
	const counted = countWorkers(asked, { environment, processors, deviceFiles });
	const workers = "value" in counted ? counted.value : 0;
	const machine = { host, clock, workers, store };
	return Promise.all(CHECKS.map((check) => check(machine)));
}

function row<Facts>({ name, find, judge }: Check<Facts>) {
	return async (machine: Machine): Promise<Finding> => {
		try {
			const facts = await find(machine);
			return { check: name, ...judge(facts, machine.workers) };
		} catch (error) {
			const message = `could not be examined (${messageOf(error)})`;
			return { check: name, ...warning(message, "examine it by hand") };
		}
	};
}

function fine(message: string): Verdict {
	return { status: "ok", message };
}

function warning(message: string, fix: string): Verdict {
	return { status: "warning", message, fix };
}

function problem(message: string, fix: string): Verdict {
	return { status: "problem", message, fix };
}

export function judgeLink(link: LinkFacts | undefined): Verdict {
	if (link === undefined) return fine("no run with links is there to try");
	const { nodeId, address, port, problem } = link;
	const whom = `${nodeId}, which coordinates the run, at ${endpointOf(address, port)}`;
	return problem === undefined
		? fine(`${whom} can be called`)
		: warning(
				`${whom} cannot be called (${problem}): a launcher that is killed is noticed only when its lease ends`,
				"let that port through; --rdzv-conf link_port=PORT makes it a fixed one",
			);
}

/** Files that the launcher opens for itself, and per worker: its logs while they are shown. */
const OWN_FILES = 64;
const FILES_A_WORKER = 4;

export function judgeOpenFiles(
	limit: Limit | undefined,
	workers: number,
): Verdict {
	if (limit === undefined) return fine("no limit is known");
	// Node.js raises its soft limit to the hard one, and its children inherit that.
	const needed = OWN_FILES + FILES_A_WORKER * workers;
	const message = `${countOf(limit.hard)} may be open; ${needsOf(workers)} ${needed} of the launcher`;
	return limit.hard >= needed
		? fine(message)
		: problem(message, `raise the hard limit: ulimit -Hn ${needed}`);
}

function needsOf(workers: number): string {
	return `${formatCount(workers, "worker")} ${workers === 1 ? "needs" : "need"}`;
}

/** Each thread of a process counts: a Node.js worker has eleven, and other programs here have some too. */
const OWN_TASKS = 32;
const TASKS_A_WORKER = 16;

export function judgeProcesses(
	{ user, group, isPrivileged }: ProcessCounts,
	workers: number,
): Verdict {
	const needed = OWN_TASKS + TASKS_A_WORKER * workers;
	const noLimit = Number.POSITIVE_INFINITY;
	const ofUser = isPrivileged ? noLimit : (user?.soft ?? noLimit);
	const ofGroup = group === undefined ? noLimit : group.most - group.now;
	const message = `room for ${countOf(Math.min(ofUser, ofGroup))} processes and threads; ${needsOf(workers)} about ${needed}`;
	if (ofGroup < needed) {
		return problem(
			message,
			"raise the control group's limit: docker run --pids-limit, or pids.max",
		);
	}
	return ofUser < needed
		? problem(message, `raise the user's limit: ulimit -u ${needed}`)
		: fine(message);
}

function countOf(limit: number): string {
	return Number.isFinite(limit) ? String(limit) : "any number of";
}

function judgeSetpriv(tool: string | undefined): Verdict {
	if (process.platform !== "linux") return fine("not of this system");
	return tool === undefined
		? warning(
				"no setpriv with --pdeathsig: workers live a moment longer than a launcher that is killed, until its guard ends them; warm restarts need it",
				"install util-linux 2.33 or newer",
			)
		: fine(tool);
}

/** `missing`: the guard's programs that are missing; undefined without a shell. */
export function judgeGuard(missing: readonly string[] | undefined): Verdict {
	if (missing === undefined) {
		return problem(
			"no POSIX shell as /bin/sh: without the guard, workers may outlive a launcher that is killed",
			"install one (dash, bash or busybox)",
		);
	}
	return missing.length === 0
		? fine("/bin/sh has what it needs")
		: problem(
				`not on PATH: ${missing.join(", ")}; without, processes that left their worker's group may outlive a launcher that is killed`,
				"install them (coreutils, grep or busybox), or correct PATH",
			);
}

/** Older versions lack the transactions that agents need, or have unreliable ones. */
export const OLDEST_ETCD = [3, 4] as const;
const SEVERAL_NODES = 2;

/** `facts`: undefined if no endpoint was named. */
export function judgeStore(facts: StoreFacts | undefined): Verdict {
	if (facts === undefined) {
		return fine("none was named; a run of one machine needs none");
	}
	const { endpoints, unreadable, unwritable, version, prefix } = facts;
	if (unreadable !== undefined) {
		return problem(
			unreadable,
			"start it, or correct --rdzv-endpoint, --rdzv-conf or --run-id",
		);
	}
	const named = `${endpoints.join(", ")} runs ${version ?? "an unknown version"}`;
	if (version !== undefined && isTooOld(version)) {
		return problem(
			`${named}, which is too old`,
			`install ${OLDEST_ETCD.join(".")} or newer`,
		);
	}
	if (unwritable !== undefined) {
		return problem(
			`${named}; nothing can be written below ${prefix} (${unwritable})`,
			`grant its user readwrite on the prefix ${prefix}`,
		);
	}
	const message = `${named}, ${prefix} can be read and written`;
	const trouble = loopbackTrouble({ endpoints, maxNodes: SEVERAL_NODES });
	return trouble === undefined ? fine(message) : warning(message, trouble);
}

function isTooOld(version: string): boolean {
	const [major = 0, minor = 0] = version.split(".").map(Number);
	const [oldestMajor, oldestMinor] = OLDEST_ETCD;
	return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
