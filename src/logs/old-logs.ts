import { readdirSync, rmdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { removeTreeAside } from "../channel/index.js";
import { exists } from "./latest-link.js";

/**
 * Removes this node's logs of earlier starts of its run but the newest ones; those of other nodes and whatever else is
 * there stay. Rejects if something cannot be removed.
 * @param directory of this start: `<dir>/<run-id>/<instance>/<node-id>`
 * @param kept how many earlier starts keep their logs
 */
export async function removeOldLogs(
	directory: string,
	kept: number,
): Promise<void> {
	const nodeId = basename(directory);
	const instance = dirname(directory);
	const run = dirname(instance);
	const earlier = readdirSync(run)
		.filter((name) => /^\d+$/.test(name))
		.filter((name) => Number(name) < Number(basename(instance)))
		.filter((name) => exists(join(run, name, nodeId, "agent.log")))
		.sort((one, other) => Number(other) - Number(one))
		.slice(kept);
	for (const name of earlier) {
		await removeTreeAside(join(run, name, nodeId));
		removeIfEmpty(join(run, name));
	}
}

/** Other nodes may have logs there too. */
function removeIfEmpty(directory: string): void {
	try {
		rmdirSync(directory);
	} catch {
		// It is not empty.
	}
}
