import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerRecord } from "./launch.js";

/** Makes a worker of the job obeys.sh or obeys.js exit with this code. */
export function tell(worker: WorkerRecord, exitCode: number): void {
	writeFileSync(fileOf(worker, "order"), String(exitCode));
	process.kill(worker.pid, "SIGUSR2");
}

/** When its process began, in milliseconds since 1970. */
export function beginOf({ extra }: WorkerRecord): number {
	if (extra.startedAt === undefined) throw new Error("its job does not say");
	return extra.startedAt;
}

/** When it exited, in milliseconds since 1970. */
export function endOf(worker: WorkerRecord): number {
	return Number(readFileSync(fileOf(worker, "ended"), "utf8"));
}

function fileOf({ pid, env }: WorkerRecord, ending: string): string {
	return join(env.JOB_RECORDS ?? "", `${pid}.${ending}`);
}
