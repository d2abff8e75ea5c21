import type { LaunchOptions } from "./launch.js";
import { job } from "./launch.js";

/** Time-outs that no test outlasts: what comes, comes because of something else. */
const PATIENT = {
	join_timeout: 120,
	last_call_timeout: 60,
	settle_timeout: 50,
	lease_ttl: 60,
};

/** A script in fixtures/jobs with its arguments. */
export type Job = readonly [name: string, ...args: string[]];

export interface ClusterOptions {
	/** --nnodes */
	readonly nodes: string;
	/** Of --rdzv-conf, in seconds; long ones unless given. */
	readonly conf?: Readonly<Partial<Record<keyof typeof PATIENT, number>>>;
	/** Flags of all agents. */
	readonly flags?: readonly string[];
	/** Obeys unless given. */
	readonly worker?: Job;
}

export interface ClusterAgentOptions extends LaunchOptions {
	readonly nproc?: number;
	readonly role?: string;
	/** Flags of this agent. */
	readonly flags?: readonly string[];
	/** Its way to the store, where that is not the others'. */
	readonly endpoint?: string;
	/** Where its workers are not the others'. */
	readonly worker?: Job;
}

/** The arguments of an agent of this run. */
export function agentArguments(
	runId: string,
	endpoint: string,
	cluster: ClusterOptions,
	agent: ClusterAgentOptions,
): readonly string[] {
	const [name, ...args] = agent.worker ?? cluster.worker ?? ["obeys.sh"];
	const pairs = Object.entries({ ...PATIENT, ...cluster.conf });
	return [
		...["--nnodes", cluster.nodes, "--run-id", runId],
		...["--nproc-per-node", String(agent.nproc ?? 1)],
		...["--role", agent.role ?? "default"],
		...["--rdzv-endpoint", agent.endpoint ?? endpoint],
		...["--rdzv-conf", pairs.map((pair) => pair.join("=")).join()],
		...[...(cluster.flags ?? []), ...(agent.flags ?? []), job(name), ...args],
	];
}
