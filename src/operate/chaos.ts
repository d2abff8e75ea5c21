import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { pause } from "../base/back-off.js";
import { ElasticRunError, systemErrorCode } from "../base/errors.js";
import {
	isLiving,
	type ProcessEntry,
	readProcess,
} from "../base/process-stat.js";
import { EventReader } from "../channel/index.js";
import { requestNotice } from "../node-files/index.js";
import {
	type AgentName,
	findKnownAgents,
	isProven,
	type KnownAgent,
} from "./find-agent.js";
import type { Searcher } from "./found-runs.js";

/** How often to read the processes, in milliseconds. */
const POLL_EVERY_MS = 50;
/** A run without a launcher on this machine for this long counts as over here, in milliseconds. */
const ABSENT_MS = 5_000;
const CHANNEL = "ELASTIC_RUN_CHANNEL=";

/** SIGKILL or SIGTERM, to a worker or to its launcher. */
export const FAULT_KINDS = [
	"kill-worker",
	"stop-worker",
	"kill-agent",
	"stop-agent",
] as const;

/** A fault for one worker of one round, or for its launcher. */
export interface Aim {
	readonly round: number;
	readonly rank: number;
	readonly kind: (typeof FAULT_KINDS)[number];
}

/** A signal that was sent to the process of an aim. */
interface Fault extends Aim {
	readonly signal: NodeJS.Signals;
	readonly pid: number;
	readonly nodeId: string;
}

interface ChaosOptions {
	readonly runId: string;
	readonly aims: readonly Aim[];
	/** Aborted to end it early. */
	readonly stop: AbortSignal;
	readonly onFault: (fault: Fault) => void;
}

/**
 * Sends the signals to the processes of a run on this machine until all are sent or the run is over. Linux only.
 * @returns the aims that were never seen on this machine
 * @throws ElasticRunError USAGE if no launcher of the run is on this machine
 */
export async function makeFaults(
	{ runId, aims, stop, onFault }: ChaosOptions,
	searcher: Searcher,
): Promise<readonly Aim[]> {
	const { clock } = searcher;
	const find = () => findKnownAgents({ runId, nodeId: undefined }, searcher);
	if (find().length === 0) {
		throw new ElasticRunError(
			"USAGE",
			`no launcher of run ${runId} is on this machine; faults are made among the processes of this machine only`,
		);
	}
	let unmet = aims;
	let seenAt = clock.now();
	while (!stop.aborted && unmet.length > 0) {
		const agents = find();
		if (agents.length > 0) seenAt = clock.now();
		else if (clock.now() - seenAt >= ABSENT_MS) break;
		const workers = workersOf(agents.filter(({ owner }) => isProven(owner)));
		unmet = unmet.filter((aim) => {
			const worker = workers.find(
				({ round, rank }) => round === aim.round && rank === aim.rank,
			);
			const fault = worker && send(aim, worker);
			if (fault !== undefined) onFault(fault);
			return fault === undefined;
		});
		if (unmet.length > 0) await pause(clock, POLL_EVERY_MS);
	}
	return unmet;
}

interface RunningWorker {
	readonly agent: KnownAgent;
	readonly pid: number;
	readonly round: number;
	readonly rank: number;
}

/** How far below its launcher a worker may be: what forks it may be below a process of its own. */
const MOST_PARENTS = 3;

/** The workers of these launchers that run in a round, with their latest places. */
function workersOf(agents: readonly KnownAgent[]): readonly RunningWorker[] {
	if (agents.length === 0) return [];
	const byPid = new Map(agents.map((agent) => [agent.owner.pid, agent]));
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.flatMap((name) => {
			const found = readProcess(Number(name));
			// What a worker has begun is mostly in its group.
			if (!found || !isLiving(found) || found.groupId !== found.pid) return [];
			const agent = ancestorOf(found, byPid);
			return (agent && workerOf(found.pid, agent)) ?? [];
		});
}

function ancestorOf<Agent>(
	{ parentId }: ProcessEntry,
	byPid: ReadonlyMap<number, Agent>,
	most = MOST_PARENTS,
): Agent | undefined {
	const parent = byPid.has(parentId) ? undefined : readProcess(parentId);
	if (parent === undefined || most === 1) return byPid.get(parentId);
	return ancestorOf(parent, byPid, most - 1);
}

function workerOf(pid: number, agent: KnownAgent): RunningWorker | undefined {
	try {
		const channel = readFileSync(`/proc/${pid}/environ`, "utf8")
			.split("\0")
			.find((one) => one.startsWith(CHANNEL))
			?.slice(CHANNEL.length);
		if (channel === undefined || dirname(channel) !== agent.directory) {
			return undefined;
		}
		const event = new EventReader(channel, () => {}).newest();
		if (event.kind !== "WORK") return undefined;
		const { round, rank } = event.workerInfo;
		return { agent, pid, round, rank };
	} catch {
		// It is ending, or has just begun.
		return undefined;
	}
}

/** Undefined if the process has ended meanwhile. */
function send(aim: Aim, { agent, ...worker }: RunningWorker) {
	const signal = aim.kind.startsWith("kill-") ? "SIGKILL" : "SIGTERM";
	const pid = aim.kind.endsWith("-agent") ? agent.owner.pid : worker.pid;
	try {
		process.kill(pid, signal);
	} catch (error) {
		if (systemErrorCode(error) === "ESRCH") return undefined;
		throw error;
	}
	return { ...aim, signal, pid, nodeId: agent.node.nodeId } satisfies Fault;
}

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
 * Makes a notice for the one node of this machine that is meant. Returns the JSON of `elastic-run chaos notice`: docs/status.md.
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
