import { createHash } from "node:crypto";
import { basename, extname } from "node:path";
import type { AgentConfig } from "./agent-config.js";
import type { Host } from "./host.js";
import { OPTIONS } from "./options.js";
import { isLoopback, LOOPBACK } from "./parse/endpoints.js";
import type { NodeRange } from "./parse/nodes.js";
import type { Environment, SettingReader } from "./settings.js";

/** Names and address, given or derived. */
export function resolveIdentity(
	reader: SettingReader,
	request: {
		readonly script: string | undefined;
		readonly args: readonly string[];
		readonly environment: Environment;
	},
	nodes: Pick<AgentConfig, "minNodes" | "maxNodes" | "meeting">,
	host: Host,
) {
	const { SLURM_JOB_ID, SLURM_STEP_ID, SLURM_STEPID } = request.environment;
	const runId = reader.given(OPTIONS.runId);
	const nodeId = reader.given(OPTIONS.nodeId);
	return {
		runId:
			runId ??
			deriveRunId({
				slurmJobId: SLURM_JOB_ID,
				slurmStepId: SLURM_STEP_ID || SLURM_STEPID,
				script: request.script ?? "",
				// An endpoint of their own brings nodes together: what they do may differ, for example by their ranks.
				args: nodes.meeting ? [] : request.args,
				nnodes: { min: nodes.minNodes, max: nodes.maxNodes },
				userName: host.userName,
			}),
		isRunIdGiven: runId !== undefined,
		isRunIdDerived: runId === undefined && !SLURM_JOB_ID,
		nodeId: nodeId ?? deriveNodeId(host.hostName),
		isNodeIdDerived: nodeId === undefined,
		localAddr:
			reader.given(OPTIONS.localAddr) ??
			// With one node no other node needs to reach it.
			(nodes.maxNodes === 1 ? LOOPBACK : undefined),
	};
}

const LONGEST_NAME = 128;
const HASH_DIGITS = 8;

/** The sources of a derived run id. They are the same on every machine, and other flags do not change it. */
interface RunIdSource {
	/** `$SLURM_JOB_ID`. */
	readonly slurmJobId: string | undefined;
	/** `$SLURM_STEP_ID` or `$SLURM_STEPID`: each `srun` of a job is a step. */
	readonly slurmStepId?: string | undefined;
	/** Script and arguments as typed; no arguments if nodes meet at an endpoint of the run's own. */
	readonly script: string;
	readonly args: readonly string[];
	readonly nnodes: NodeRange;
	readonly userName: string;
}

/** `train-1f3a9c02`, or under Slurm `4711.0`, the ids of job and step. */
export function deriveRunId(source: RunIdSource): string {
	const { slurmJobId, slurmStepId } = source;
	if (slurmJobId) {
		const parts = slurmStepId ? [slurmJobId, slurmStepId] : [slurmJobId];
		return toName(parts.join("."), LONGEST_NAME);
	}
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

/** The host name, made a valid name. */
export function deriveNodeId(hostName: string): string {
	return toName(hostName, LONGEST_NAME);
}

/** The addresses among which `chooseLocalAddress` chooses. */
interface Routes {
	/** The local address from which packets to an endpoint leave; undefined if none was found. */
	readonly toStore: string | undefined;
	/** Addresses by which other machines may reach this one, in the system's order. */
	readonly external: readonly string[];
}

/**
 * The address to give to other nodes. It never derives from the host's name, which may mean a loopback address here and
 * nothing elsewhere.
 * @param isStoreLocal whether the store's address, as written, is a loopback address: then all nodes are on this machine
 */
export function chooseLocalAddress(
	isStoreLocal: boolean,
	{ toStore, external }: Routes,
): string {
	if (isStoreLocal) return LOOPBACK;
	const usable = toStore !== undefined && !isUnreachable(toStore);
	return usable ? toStore : (external[0] ?? LOOPBACK);
}

/** Loopback and link-local addresses mean nothing on other machines. A name in /etc/hosts may lead to one. */
function isUnreachable(address: string): boolean {
	return (
		isLoopback(address) || /^(169\.254\.|fe[89ab][0-9a-f]:)/i.test(address)
	);
}

/** Replaces every invalid character by a dash. */
function toName(text: string, longest: number): string {
	const name = text
		.replaceAll(/[^A-Za-z0-9._-]+/g, "-")
		.replace(/^[^A-Za-z0-9]+/, "")
		.slice(0, longest);
	return name === "" ? "run" : name;
}
