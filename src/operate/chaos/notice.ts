import { requestNotice } from "../../agent/presence/notice-request.js";
import { ElasticRunError } from "../../base/errors.js";
import { type AgentName, findKnownAgents } from "../find-agent.js";
import type { Searcher } from "../status/find-runs.js";

/** What each platform says, and how long before the end, in milliseconds; null: it does not say. */
const PLATFORMS = {
	aws: { usualMs: 120_000, says: "spot interruption: terminate" },
	gcp: { usualMs: 30_000, says: "preempted" },
	azure: { usualMs: 30_000, says: "scheduled event Preempt" },
	slurm: { usualMs: 60_000, says: "the Slurm job is at its time limit" },
	file: { usualMs: null, says: "the file is there" },
} as const;

interface MakeNoticeOptions extends AgentName {
	readonly platform: keyof typeof PLATFORMS;
	/** From now until the machine would go, in milliseconds; undefined: as the platform has it. */
	readonly windowMs: number | undefined;
}

/**
 * Makes a notice for the one node of this machine that is meant. Returns the JSON of `elastic-run chaos notice`: docs/chaos.md.
 * @throws ElasticRunError USAGE if none or several are meant
 */
export function makeNotice(options: MakeNoticeOptions, searcher: Searcher) {
	const [agent, ...others] = findKnownAgents(options, searcher);
	if (agent === undefined) {
		throw new ElasticRunError(
			"USAGE",
			`no such node of run ${options.runId} is on this machine; notices are made for nodes of this machine only`,
		);
	}
	const { runId, nodeId } = agent.node;
	if (others.length > 0) {
		const names = [agent, ...others].map(({ node }) => node.nodeId);
		throw new ElasticRunError(
			"USAGE",
			`${names.length} nodes of run ${runId} are on this machine; name one with --node-id: ${names.join(", ")}`,
		);
	}
	const { platform } = options;
	const { usualMs, says } = PLATFORMS[platform];
	const windowMs = options.windowMs ?? usualMs;
	const now = Math.round(searcher.clock.wallTime());
	const deadline = windowMs === null ? null : now + windowMs;
	const reason = `${says} (chaos, as ${platform})`;
	requestNotice(agent.directory, `${process.pid}-${now}`, {
		reason,
		deadline: deadline ?? undefined,
	});
	return { version: 1, runId, nodeId, platform, reason, deadline };
}
