import { createHash } from "node:crypto";
import { basename, extname } from "node:path";
import type { NodeRange } from "./parse/nodes.js";

const LONGEST_NAME = 128;
const HASH_DIGITS = 8;

/** What a derived run id follows from: it is the same on every machine, and other flags do not change it. */
export interface RunIdSource {
	/** `$SLURM_JOB_ID`. */
	readonly slurmJobId: string | undefined;
	/** Script and arguments as typed. */
	readonly script: string;
	readonly args: readonly string[];
	readonly nnodes: NodeRange;
	readonly userName: string;
}

/** `train-1f3a9c02`, or the job's id under Slurm. */
export function deriveRunId(source: RunIdSource): string {
	if (source.slurmJobId) return toName(source.slurmJobId, LONGEST_NAME);
	const { script, args, nnodes, userName } = source;
	const hash = createHash("sha256")
		.update(JSON.stringify([script, args, nnodes.min, nnodes.max, userName]))
		.digest("hex")
		.slice(0, HASH_DIGITS);
	const title = toName(
		basename(script, extname(script)),
		LONGEST_NAME - HASH_DIGITS - 1,
	);
	return `${title}-${hash}`;
}

/** The host name made a legal name. */
export function deriveNodeId(hostName: string): string {
	return toName(hostName, LONGEST_NAME);
}

/** The address to give to others: with one node nobody else needs to reach it. */
export function deriveLocalAddress(
	maxNodes: number,
	addresses: readonly string[],
): string {
	const loopback = "127.0.0.1";
	return maxNodes === 1 ? loopback : (addresses[0] ?? loopback);
}

/** Every letter that a name may not have becomes a dash. */
function toName(text: string, longest: number): string {
	const name = text
		.replaceAll(/[^A-Za-z0-9._-]+/g, "-")
		.replace(/^[^A-Za-z0-9]+/, "")
		.slice(0, longest);
	return name === "" ? "run" : name;
}
