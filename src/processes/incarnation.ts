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
