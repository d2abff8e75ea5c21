import { createHash } from "node:crypto";
import { basename, extname } from "node:path";
import { isLoopback } from "./parse/endpoints.js";
import type { NodeRange } from "./parse/nodes.js";

export const LOOPBACK = "127.0.0.1";
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

/** How `chooseLocalAddress` may reach the store. */
export interface Routes {
	/** By which of this machine's addresses its packets to an endpoint leave; undefined where none was found. */
	readonly toStore: string | undefined;
	/** By which other machines may reach this one, in the system's order. */
	readonly external: readonly string[];
}

/**
 * The address to give to other nodes. It is never derived from the host's name,
 * which may stand for a loopback address here and for nothing elsewhere.
 * @param isStoreLocal whether the store's address, as it was written, is each machine's own: then all nodes are here
 */
export function chooseLocalAddress(
	isStoreLocal: boolean,
	{ toStore, external }: Routes,
): string {
	if (isStoreLocal) return LOOPBACK;
	const usable = toStore !== undefined && !isUnreachable(toStore);
	return usable ? toStore : (external[0] ?? LOOPBACK);
}

/** Loopback and link-local addresses mean nothing on other machines; a name in /etc/hosts may lead to one. */
function isUnreachable(address: string): boolean {
	return (
		isLoopback(address) || /^(169\.254\.|fe[89ab][0-9a-f]:)/i.test(address)
	);
}

/** Every letter that a name may not have becomes a dash. */
function toName(text: string, longest: number): string {
	const name = text
		.replaceAll(/[^A-Za-z0-9._-]+/g, "-")
		.replace(/^[^A-Za-z0-9]+/, "")
		.slice(0, longest);
	return name === "" ? "run" : name;
}
