import { basename } from "node:path";
import type { WorkerSpec } from "../processes/index.js";
import { availableMemory } from "./available-memory.js";
import { type ColdReason, helperProblem } from "./warm-or-cold.js";

/** A wrapper of another name may do something for each worker. */
const INTERPRETER = /^python[\d.]*t?$/;

export const NOT_PYTHON: ColdReason = {
	kind: "command",
	reason: "the command is not Python itself, it only starts Python",
};

/** Why this machine starts no helper for workers like this one; undefined if it can. */
export function problemHere(
	{ file }: Pick<WorkerSpec, "file">,
	setpriv: string | undefined,
	workerBytes: number,
): ColdReason | undefined {
	if (!INTERPRETER.test(basename(file))) return NOT_PYTHON;
	return helperProblem({
		platform: process.platform,
		hasSetpriv: setpriv !== undefined,
		availableBytes: availableMemory(),
		workerBytes,
	});
}
