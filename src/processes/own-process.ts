import { randomUUID } from "node:crypto";
import { readProcess } from "../base/process-stat.js";

/** A unique name for this agent process. With a /proc it also identifies the process. */
export function newIncarnation(): string {
	const startTime = readProcess(process.pid)?.startTime;
	const uuid = randomUUID();
	return startTime === undefined ? uuid : `${process.pid}-${startTime}-${uuid}`;
}

/** The process that an incarnation identifies; undefined if it does not. */
export function processOf(
	incarnation: string,
): { readonly pid: number; readonly startTime: string } | undefined {
	const [, pid, startTime] =
		/^(\d+)-(\d+)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.exec(
			incarnation,
		) ?? [];
	return pid === undefined || startTime === undefined
		? undefined
		: { pid: Number(pid), startTime };
}

/**
 * The mark in the environment of every worker of one agent process and of their descendants. It is not the channel's
 * path, because the run's next agent has the same one.
 */
export function agentMark(incarnation: string): string {
	return `ELASTIC_RUN_INCARNATION=${incarnation}`;
}

/**
 * A warning if the agent is the first process of a container, because the image has nothing that reaps for it: orphans
 * become its children, and Node reaps only the processes that it spawned. Undefined elsewhere.
 */
export function pid1Warning(process: {
	readonly pid: number;
}): string | undefined {
	if (process.pid !== 1) return undefined;
	return 'this launcher is process 1 and cannot reap the zombies of orphaned processes, which pile up until the container\'s limit of pids: put python3, perl or an init into the image (docker run --init; or in the image ENTRYPOINT ["tini", "--", "elastic-run"])';
}
