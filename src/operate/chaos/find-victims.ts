import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { isLiving, readProcess } from "../../base/process-stat.js";
import { EventReader } from "../../channel/event-reader.js";
import { isProven, type KnownAgent } from "../find-agent.js";
import type { Victim } from "./plan-chaos.js";

const CHANNEL = "ELASTIC_RUN_CHANNEL=";

/**
 * The workers of these launchers that run in a round, with their latest places. Only children of a proven launcher count.
 * None without a /proc.
 */
export function findVictims(agents: readonly KnownAgent[]): readonly Victim[] {
	const byPid = new Map(
		agents
			.filter(({ owner }) => isProven(owner))
			.map((agent) => [agent.owner.pid, agent]),
	);
	if (byPid.size === 0) return [];
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.flatMap((name) => {
			const found = readProcess(Number(name));
			if (found === undefined || !isLiving(found)) return [];
			const agent = byPid.get(found.parentId);
			return (agent && victimOf(found.pid, agent)) ?? [];
		})
		.sort((left, right) => left.rank - right.rank);
}

function victimOf(pid: number, agent: KnownAgent): Victim | undefined {
	const channel = channelOf(pid);
	if (channel === undefined || dirname(channel) !== agent.directory) return;
	try {
		const event = new EventReader(channel, () => {}).newest();
		if (event.kind !== "WORK") return undefined;
		const { round, rank } = event.workerInfo;
		const { nodeId } = agent.node;
		return { nodeId, agentPid: agent.owner.pid, pid, round, rank };
	} catch {
		// It is ending, or has just begun.
		return undefined;
	}
}

function channelOf(pid: number): string | undefined {
	try {
		return readFileSync(`/proc/${pid}/environ`, "utf8")
			.split("\0")
			.find((one) => one.startsWith(CHANNEL))
			?.slice(CHANNEL.length);
	} catch {
		return undefined;
	}
}
