import { requestNotice } from "../../agent/presence/notice-request.js";
import { ElasticRunError } from "../../base/errors.js";
import { type AgentName, findKnownAgents } from "../find-agent.js";
import type { Searcher } from "../status/find-runs.js";

/** What each platform says, and how long before the end, in milliseconds; null: it does not say. */
export const PLATFORMS = {
	aws: { windowMs: 120_000, says: "spot interruption: terminate" },
	gcp: { windowMs: 30_000, says: "preempted" },
	azure: { windowMs: 30_000, says: "scheduled event Preempt" },
	slurm: { windowMs: 60_000, says: "the Slurm job is at its time limit" },
	file: { windowMs: null, says: "the file is there" },
} as const;

export type Platform = keyof typeof PLATFORMS;

export interface MakeNoticeOptions extends AgentName {
	readonly platform: Platform;
	/** From now until the machine would go, in milliseconds; undefined: as the platform has it. */
	readonly windowMs: number | undefined;
}

/** The JSON of `elastic-run chaos notice`: docs/chaos.md. */
export interface MadeNotice {
	readonly version: 1;
	readonly runId: string;
	readonly nodeId: string;
	readonly platform: Platform;
	readonly reason: string;
	/** In milliseconds since 1970; null if it is not said. */
	readonly deadline: number | null;
}

/**
 * Makes a notice for the one node of this machine that is meant.
 * @throws ElasticRunError USAGE if none or several are meant
 */
export function makeNotice(
	options: MakeNoticeOptions,
	searcher: Searcher,
): MadeNotice {
	const [agent, ...others] = findKnownAgents(options, searcher);
	if (agent === undefined || others.length > 0) {
		throw new ElasticRunError("USAGE", notOne(options, [agent, ...others]));
	}
	const { platform, windowMs: given } = options;
	const { windowMs: usual, says } = PLATFORMS[platform];
	const windowMs = given ?? usual;
	const now = Math.round(searcher.clock.wallTime());
	const deadline = windowMs === null ? undefined : now + windowMs;
	const reason = `${says} (chaos, as ${platform})`;
	requestNotice(agent.directory, `${process.pid}-${now}`, { reason, deadline });
	const { runId, nodeId } = agent.node;
	return {
		...{ version: 1, runId, nodeId, platform, reason },
		deadline: deadline ?? null,
	};
}

function notOne(
	{ runId }: AgentName,
	agents: readonly (ReturnType<typeof findKnownAgents>[number] | undefined)[],
): string {
	const names = agents.flatMap((agent) =>
		agent === undefined ? [] : [agent.node.nodeId],
	);
	if (names.length === 0) {
		return `no such node of run ${runId} is on this machine; notices are made for nodes of this machine only`;
	}
	return `${names.length} nodes of run ${runId} are on this machine; name one with --node-id: ${names.join(", ")}`;
}
