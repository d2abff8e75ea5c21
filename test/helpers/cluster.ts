import { join } from "node:path";
import { expect } from "vitest";
import type { EtcdNode } from "./etcd.js";
import { poll } from "./etcd-gateway.js";
import {
	job,
	type Launch,
	type LaunchEnd,
	type LaunchOptions,
	LaunchSite,
	type WorkerRecord,
} from "./launch.js";
import { tell } from "./obedient-worker.js";
import { isAlive } from "./processes.js";
import { RunInStore } from "./run-in-store.js";
import { onTestFailed, onTestFinished } from "./this-test.js";

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

interface Agent {
	readonly node: NodeOfWorld;
	readonly options: ClusterAgentOptions;
	readonly launch: Launch;
}

/** Why a round was left whose node was killed: its guard may speak before the lease is over. */
export function killed(nodeId = ""): unknown {
	const words = `^${nodeId} left: (lease expired|its launcher died)$`;
	return expect.stringMatching(words);
}

/** What a test has to know of its own end; a concurrent test's context. */
interface TestEnd {
	onTestFinished(clean: () => Promise<void>): void;
	onTestFailed(explain: () => void): void;
}

const BOUND_MS = 60_000;

let clusters = 0;

/** A run of a test's own, with its agents on one machine; all of them, and all that they started, ends with the test. */
export class Cluster {
	readonly site = new LaunchSite();
	readonly store: RunInStore;
	private readonly agents = new Map<string, Agent>();
	private readonly frozen = new Set<string>();

	constructor(
		private readonly etcd: EtcdNode,
		private readonly options: ClusterOptions,
		test: TestEnd = { onTestFinished, onTestFailed },
	) {
		this.store = new RunInStore(etcd, `cluster-${++clusters}`);
		test.onTestFinished(() => this.site.close());
		test.onTestFailed(() => console.log(this.site.whatWasSaid()));
	}

	/** Starts an agent with logs of its own; unless options are given, one that was there before has those that it had. */
	agent(nodeId: string, given?: ClusterAgentOptions): Launch {
		const options = given ?? this.agents.get(nodeId)?.options ?? {};
		const { nproc = 1, role = "default", env } = options;
		const { runId } = this.store;
		const launch = this.site.launch(
			agentArguments(runId, this.etcd.endpoint, this.options, options),
			{
				...options,
				env: {
					ELASTIC_RUN_NODE_ID: nodeId,
					ELASTIC_RUN_LOG_DIR: this.logsOf(nodeId),
					...env,
				},
			},
		);
		this.agents.set(nodeId, {
			node: { nodeId, nproc, role },
			options,
			launch,
		});
		return launch;
	}

	/** Starts those of these agents that were not started, at once, and waits for round 1; its members by rank. */
	async form<NodeIds extends readonly string[]>(
		...nodeIds: NodeIds
	): Promise<{ readonly [Index in keyof NodeIds]: string }>;
	async form(...nodeIds: readonly string[]): Promise<readonly string[]> {
		for (const nodeId of nodeIds) {
			if (!this.agents.has(nodeId)) this.agent(nodeId);
		}
		const members = await this.store.sawMembers(1);
		expect([...members].sort()).toEqual([...nodeIds].sort());
		await this.world(1, ...members);
		return members;
	}

	/** The newest agent of a node. */
	launchOf(nodeId: string): Launch {
		return this.agentOf(nodeId).launch;
	}

	logsOf(nodeId: string): string {
		return join(this.site.logs, nodeId);
	}

	/**
	 * Waits for the workers of a round whose members are these in this order, and checks what each was
	 * told, and that no worker of an earlier round is left but those of agents that are frozen.
	 */
	async world(
		round: number,
		...nodeIds: readonly string[]
	): Promise<readonly WorkerRecord[]> {
		const nodes = nodeIds.map((nodeId) => this.agentOf(nodeId).node);
		const workers = await this.site.sawWorkers(sizeOf(nodes), round);
		expectWorld(workers, nodes);
		const left = this.site
			.workers()
			.filter(
				({ pid, env }) => Number(env.ELASTIC_RUN_ROUND) < round && isAlive(pid),
			)
			.map(({ env }) => env.ELASTIC_RUN_NODE_ID ?? "");
		expect(left.filter((nodeId) => !this.frozen.has(nodeId))).toEqual([]);
		return workers;
	}

	/** The same of the newest round, once these are its members: for where others may come before. Its members by rank. */
	async newestWorld(...nodeIds: readonly string[]): Promise<readonly string[]> {
		const wanted = [...nodeIds].sort().join();
		const { round, members } = await poll(
			`a round of ${wanted}`,
			BOUND_MS,
			async () => {
				const line = (await this.store.history()).at(-1);
				if (line === undefined) return undefined;
				const { round, endedAt, worldSize } = line;
				const isIt = [...line.members].sort().join() === wanted;
				const isHere = this.site.workers(round).length === worldSize;
				return isIt && isHere && endedAt === null ? line : undefined;
			},
		);
		await this.world(round, ...members);
		return members;
	}

	/** SIGSTOP to an agent; its workers run on. */
	freeze(nodeId: string): void {
		this.frozen.add(nodeId);
		this.launchOf(nodeId).signal("SIGSTOP");
	}

	thaw(nodeId: string): void {
		this.frozen.delete(nodeId);
		this.launchOf(nodeId).signal("SIGCONT");
	}

	/** A worker that runs, or has run. */
	worker(round: number, rank: number): WorkerRecord {
		const worker = this.site
			.workers(round)
			.find(({ env }) => env.RANK === String(rank));
		if (worker === undefined) throw new Error(`no rank ${rank} in ${round}`);
		return worker;
	}

	/** Makes all workers of a round, which obey, succeed. */
	succeed(round: number): void {
		for (const worker of this.site.workers(round)) tell(worker, 0);
	}

	/** Ends an agent by SIGKILL. Its lease lives on where agents have no links. */
	async kill(nodeId: string): Promise<void> {
		const launch = this.launchOf(nodeId);
		launch.signal("SIGKILL");
		await launch.ended;
	}

	/** Ends an agent by SIGKILL, and its lease. */
	async vanish(nodeId: string): Promise<void> {
		await this.kill(nodeId);
		// Its guard's word may have ended it before.
		await this.store.endLease(nodeId).catch(() => {});
		await this.store.sawNoNode(nodeId);
	}

	/** Waits for agents to end, and checks with which codes. */
	async ends(
		exitCodes: Readonly<Record<string, number>>,
	): Promise<Readonly<Record<string, LaunchEnd>>> {
		const ends: Record<string, LaunchEnd> = {};
		const found: Record<string, number | null> = {};
		for (const nodeId of Object.keys(exitCodes)) {
			const end = await this.launchOf(nodeId).ended;
			ends[nodeId] = end;
			found[nodeId] = end.exitCode;
		}
		expect(found).toEqual(exitCodes);
		return ends;
	}

	/** Tells all agents that run to leave, and waits until nothing is left of them. */
	async stop(): Promise<void> {
		const running = [...this.agents].filter(
			([, { launch }]) => !launch.hasEnded,
		);
		for (const [, { launch }] of running) launch.signal("SIGTERM");
		for (const [nodeId] of running) await this.ends({ [nodeId]: 143 });
		await this.site.isSwept();
	}

	private agentOf(nodeId: string): Agent {
		const agent = this.agents.get(nodeId);
		if (agent === undefined) throw new Error(`${nodeId} was not started`);
		return agent;
	}
}

/** The arguments of an agent of this run. */
function agentArguments(
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

/** What the workers of one node can be expected to be told. */
interface NodeOfWorld {
	readonly nodeId: string;
	readonly nproc: number;
	readonly role: string;
}

/** The variables that follow from who is in a round, in which order; the others are the same for all workers of it. */
const RANK_VARIABLES = [
	...["ELASTIC_RUN_NODE_ID", "RANK", "LOCAL_RANK", "GROUP_RANK"],
	...["ROLE_NAME", "ROLE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"],
	...["GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE"],
] as const;

/** The same in all workers of a round, whatever it is. */
const SHARED_VARIABLES = [
	...["MASTER_ADDR", "MASTER_PORT", "ELASTIC_RUN_INSTANCE"],
	...["ELASTIC_RUN_ROUND", "ELASTIC_RUN_RUN_ID"],
	...["TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_RUN_ID"],
] as const;

/** Checks what the workers of a round were told, by rank, where its members are these in this order. */
function expectWorld(
	workers: readonly WorkerRecord[],
	nodes: readonly NodeOfWorld[],
): void {
	const told = workers.map(({ env }) => pick(env, RANK_VARIABLES));
	expect(told).toEqual(expectedRanks(nodes));
	const shared = workers.map(({ env }) => pick(env, SHARED_VARIABLES));
	expect(shared).toEqual(shared.map(() => shared[0]));
}

/** The rank variables of each of them. */
function expectedRanks(
	nodes: readonly NodeOfWorld[],
): readonly Readonly<Record<string, string>>[] {
	const worldSize = sizeOf(nodes);
	let rank = 0;
	const roleRanks = new Map<string, number>();
	return nodes.flatMap(({ nodeId, nproc, role }, groupRank) =>
		Array.from({ length: nproc }, (_, localRank) => {
			const roleRank = roleRanks.get(role) ?? 0;
			roleRanks.set(role, roleRank + 1);
			return {
				ELASTIC_RUN_NODE_ID: nodeId,
				RANK: String(rank++),
				LOCAL_RANK: String(localRank),
				GROUP_RANK: String(groupRank),
				ROLE_NAME: role,
				ROLE_RANK: String(roleRank),
				WORLD_SIZE: String(worldSize),
				LOCAL_WORLD_SIZE: String(nproc),
				GROUP_WORLD_SIZE: String(nodes.length),
				ROLE_WORLD_SIZE: String(
					sizeOf(nodes.filter((node) => node.role === role)),
				),
			};
		}),
	);
}

function sizeOf(nodes: readonly NodeOfWorld[]): number {
	return nodes.reduce((sum, { nproc }) => sum + nproc, 0);
}

function pick(
	env: WorkerRecord["env"],
	names: readonly string[],
): Readonly<Record<string, string | undefined>> {
	return Object.fromEntries(names.map((name) => [name, env[name]]));
}
