import { pause } from "../base/back-off.js";
import { ElasticRunError } from "../base/errors.js";
import { isStillThere } from "../node-files/index.js";
import {
	type AgentName,
	findKnownAgents,
	isProven,
	type KnownAgent,
} from "./find-agent.js";
import type { Searcher } from "./found-runs.js";

/** How often to check whether the agent is still there, in milliseconds. */
const LOOK_EVERY_MS = 50;
/** Time for the agent's last writes, in addition to its workers' grace period, in milliseconds. */
const FAREWELL_MS = 15_000;

interface LeaveOptions extends AgentName {
	/** How long to wait for it, in milliseconds; null: its workers' grace period and a little more. */
	readonly timeoutMs: number | null;
	/** Asked if neither a run nor a node is named, so that another project's only node is not stopped by mistake. */
	readonly isMeant: (who: string) => Promise<boolean>;
	/** Called after the signal was sent. */
	readonly onTold: (told: Omit<LeaveReport, "gone">, timeoutMs: number) => void;
}

/** The JSON of `elastic-run leave`: docs/status.md. */
export interface LeaveReport {
	readonly version: 1;
	readonly runId: string;
	readonly nodeId: string;
	readonly pid: number;
	readonly signal: NodeJS.Signals;
	/** The launcher has ended, with its workers. */
	readonly gone: boolean;
}

/**
 * Makes the selected agent of this machine leave its run.
 * @throws ElasticRunError USAGE if none or several match, or if the agent cannot be signalled or is not confirmed
 */
export async function leaveRun(
	options: LeaveOptions,
	searcher: Searcher,
): Promise<LeaveReport> {
	const agent = theOne(findKnownAgents(options, searcher), options);
	await confirm(agent, options);
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

async function confirm(
	{ node, owner }: KnownAgent,
	{ runId, nodeId, isMeant }: LeaveOptions,
): Promise<void> {
	if (runId !== undefined || nodeId !== undefined) return;
	const who = `${node.nodeId} of run ${node.runId} (pid ${owner.pid})`;
	if (await isMeant(who)) return;
	throw new ElasticRunError(
		"USAGE",
		`nothing was stopped; to make ${who} leave, name it: elastic-run leave ${node.runId} --node-id ${node.nodeId}`,
	);
}

/** Sends the signal that makes the agent leave, to this process only. */
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
			`there is no node${wanted} of this user's on this machine; where its launcher was started with another ELASTIC_RUN_DIR, set that here too; a node elsewhere needs --deadline TIME`,
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
