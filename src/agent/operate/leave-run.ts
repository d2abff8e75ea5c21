import { ElasticRunError } from "../../errors.js";
import { pause } from "../../rendezvous/back-off.js";
import type { Searcher } from "../status/find-runs.js";
import { isStillThere } from "../status/local-agents.js";
import {
	type AgentName,
	findKnownAgents,
	isProven,
	type KnownAgent,
} from "./find-agent.js";

/** How often it is looked whether the agent is still there, in milliseconds. */
const LOOK_EVERY_MS = 50;
/** Beside its workers' time to end: what an agent may need to tell the others, in milliseconds. */
const FAREWELL_MS = 15_000;

export interface LeaveOptions extends AgentName {
	/** How long it is waited for, in milliseconds; null: as long as its workers' time to end, and a little more. */
	readonly timeoutMs: number | null;
	/** Told when the signal was sent. */
	readonly onTold: (told: Omit<LeaveReport, "gone">, timeoutMs: number) => void;
}

/** What `elastic-run leave` prints as JSON: docs/operating.md. */
export interface LeaveReport {
	readonly version: 1;
	readonly runId: string;
	readonly nodeId: string;
	/** The launcher's. */
	readonly pid: number;
	readonly signal: NodeJS.Signals;
	/** The launcher has ended, and with it its workers. */
	readonly gone: boolean;
}

/**
 * Makes the one agent of this machine that is meant leave its run.
 * @throws ElasticRunError USAGE where none or several are meant, or the one cannot be signalled
 */
export async function leaveRun(
	options: LeaveOptions,
	searcher: Searcher,
): Promise<LeaveReport> {
	const agent = theOne(findKnownAgents(options, searcher), options);
	const { runId, nodeId, shutdownTimeoutMs } = agent.node;
	const { pid } = agent.owner;
	const told = { version: 1, runId, nodeId, pid, signal: tell(agent) } as const;
	const timeoutMs = options.timeoutMs ?? shutdownTimeoutMs + FAREWELL_MS;
	options.onTold(told, timeoutMs);
	const { clock } = searcher;
	const until = clock.now() + timeoutMs;
	while (isStillThere(agent) && clock.now() < until) {
		await pause(clock, LOOK_EVERY_MS);
	}
	return { ...told, gone: !isStillThere(agent) };
}

/** Sends the signal that the agent minds, to nobody else. */
function tell({ node, owner }: KnownAgent): NodeJS.Signals {
	const { leaveSignal, nodeId, runId } = node;
	const who = `${nodeId} of run ${runId}`;
	if (leaveSignal === null) {
		throw new ElasticRunError(
			"USAGE",
			`${who} is in the program with pid ${owner.pid}, which minds no signals: abort the signal that it gave to launchAgent`,
		);
	}
	if (!isProven(owner)) {
		throw new ElasticRunError(
			"USAGE",
			`that pid ${owner.pid} is ${who} cannot be proven from here (another pid namespace, or no /proc); send ${leaveSignal} to it where it runs`,
		);
	}
	process.kill(owner.pid, leaveSignal);
	return leaveSignal;
}

function theOne(
	agents: readonly KnownAgent[],
	{ runId, nodeId }: AgentName,
): KnownAgent {
	const [first, ...others] = agents;
	const wanted = [
		...(nodeId === undefined ? [] : [` ${nodeId}`]),
		...(runId === undefined ? [] : [` of run ${runId}`]),
	].join("");
	if (first === undefined) {
		throw new ElasticRunError(
			"USAGE",
			`there is no node${wanted} of this user's on this machine; where its launcher was started with another ELASTIC_RUN_DIR, set that here too`,
		);
	}
	if (others.length === 0) return first;
	const names = agents.map(({ node, owner }) => {
		return `--run-id ${node.runId} --node-id ${node.nodeId} (pid ${owner.pid})`;
	});
	throw new ElasticRunError(
		"USAGE",
		`${agents.length} nodes${wanted} are on this machine; name one: ${names.join(", or ")}`,
	);
}
