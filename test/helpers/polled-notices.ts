import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerRecord } from "./launch.js";

/** What a worker of polls-notices.js has written down. */
export function polledNotices({ pid, env }: WorkerRecord): readonly unknown[] {
	const file = join(env.JOB_RECORDS ?? "", `${pid}.notices`);
	if (!existsSync(file)) return [];
	const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
	return lines.map((line): unknown => JSON.parse(line));
}
