import { readlinkSync, statSync } from "node:fs";
import type { Clock } from "../base/clock.js";
import {
	isLiving,
	isProcOurs,
	type ProcessEntry,
	readProcess,
} from "../base/process-stat.js";
import { isGone } from "../channel/index.js";
import { endFound, environmentOf, pidsOfAll, STUCK } from "./escapees.js";
import { processOf } from "./own-process.js";

export interface LeftBehindOptions {
	readonly clock: Clock;
	readonly runId: string;
	readonly nodeId: string;
	readonly warn: (message: string) => void;
}

/**
 * Ends the processes of an earlier agent of this node and run that was killed together with its guard: processes of this
 * user whose environment names the run, the node, and an agent process that is gone. Resolves once none is left.
 */
export async function endLeftBehind({
	clock,
	runId,
	nodeId,
	warn,
}: LeftBehindOptions): Promise<void> {
	if (!isProcOurs()) return;
	await endFound({
		clock,
		warn,
		whose: "of an earlier launcher of this node that is dead",
		find: () => ({ found: findLeftBehind(runId, nodeId), isUndecided: false }),
	});
}

function findLeftBehind(
	runId: string,
	nodeId: string,
): readonly ProcessEntry[] {
	const own = placeOf("self");
	const spared = ownAncestors();
	const session = readProcess(process.pid)?.sessionId;
	return pidsOfAll().flatMap((pid) => {
		if (spared.has(pid) || own === undefined || placeOf(pid) !== own) return [];
		const entry = readProcess(pid);
		if (entry === undefined || !isLiving(entry)) return [];
		// Each worker has its own session. A process in this launcher's session (the `tee` after it in a pipe) may have a
		// dead worker's environment, because the shell has inherited it.
		if (entry.sessionId === session) return [];
		// Reading the memory of a stuck process may block as long as it is stuck.
		if (entry.state === STUCK) return [];
		const environment = environmentOf(pid).toString().split("\0");
		return isLeftBehind(environment, runId, nodeId) ? [entry] : [];
	});
}

/** Whether an environment, `NAME=value` each, is that of a worker of this node and run whose agent is gone. */
export function isLeftBehind(
	environment: readonly string[],
	runId: string,
	nodeId: string,
): boolean {
	if (!environment.includes(`ELASTIC_RUN_RUN_ID=${runId}`)) return false;
	if (!environment.includes(`ELASTIC_RUN_NODE_ID=${nodeId}`)) return false;
	const prefix = "ELASTIC_RUN_INCARNATION=";
	const mark = environment.find((entry) => entry.startsWith(prefix));
	const agent = mark && processOf(mark.slice(prefix.length));
	return agent !== undefined && agent !== "" && isGone(agent);
}

/** The user and pid namespace of a process. In another namespace the agent's pid would mean a different process. */
function placeOf(pid: number | "self"): string | undefined {
	try {
		const { uid } = statSync(`/proc/${pid}`);
		if (pid !== "self" && uid !== process.getuid?.()) return undefined;
		return `${uid} ${readlinkSync(`/proc/${pid}/ns/pid`)}`;
	} catch {
		// It has ended, or belongs to another user.
		return undefined;
	}
}

/** This process and its ancestors: a left-over worker may have started them. */
function ownAncestors(): ReadonlySet<number> {
	const pids = new Set<number>();
	for (let pid = process.pid; pid > 0 && !pids.has(pid); ) {
		pids.add(pid);
		pid = readProcess(pid)?.parentId ?? 0;
	}
	return pids;
}
