import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { EtcdNode } from "./etcd.js";
import {
	expectedRanks,
	type NodeOfWorld,
	RANK_VARIABLES,
	SHARED_VARIABLES,
	sizeOf,
} from "./expected-world.js";
import {
	job,
	type Launch,
	type LaunchEnd,
	type LaunchOptions,
	openSite,
	type WorkerRecord,
} from "./launch.js";
import { isAlive, waitFor } from "./processes.js";
import { RunInStore } from "./run-in-store.js";

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

let clusters = 0;

/** A run of a test's own, with its agents on one machine; all of them, and all that they started, ends with the test. */
export class Cluster {
	readonly site = openSite();
	readonly store: RunInStore;
	readonly #agents = new Map<string, Agent>();

	constructor(
		private readonly etcd: EtcdNode,
		private readonly options: ClusterOptions,
	) {
		this.store = new RunInStore(etcd, `cluster-${++clusters}`);
	}

	/** Starts an agent with logs of its own; unless options are given, one that was there before has those that it had. */
	agent(nodeId: string, given?: ClusterAgentOptions): Launch {
		const options = given ?? this.#agents.get(nodeId)?.options ?? {};
		const { nproc = 1, role = "default", flags = [] } = options;
		const { conf, nodes, worker = ["obeys.js"] } = this.options;
		const [name, ...args] = options.worker ?? worker;
		const pairs = Object.entries({ ...PATIENT, ...conf });
		const launch = this.site.launch(
			[
				...["--nnodes", nodes, "--run-id", this.store.runId],
				...["--nproc-per-node", String(nproc), "--role", role],
				...["--rdzv-endpoint", options.endpoint ?? this.etcd.endpoint],
				...["--rdzv-conf", pairs.map((pair) => pair.join("=")).join()],
				...[...(this.options.flags ?? []), ...flags, job(name), ...args],
			],
			{
				...options,
				env: {
					ELASTIC_RUN_NODE_ID: nodeId,
					ELASTIC_RUN_LOG_DIR: this.logsOf(nodeId),
					...options.env,
				},
			},
		);
		this.#agents.set(nodeId, {
			node: { nodeId, nproc, role },
			options,
			launch,
		});
		return launch;
	}

	/** Starts several agents at once. */
	agents(...nodeIds: readonly string[]): readonly Launch[] {
		return nodeIds.map((nodeId) => this.agent(nodeId));
	}

	/** The newest agent of a node. */
	launchOf(nodeId: string): Launch {
		return this.#agentOf(nodeId).launch;
	}

	logsOf(nodeId: string): string {
		return join(this.site.logs, nodeId);
	}

	/** Waits for the workers of a round whose members are these in this order, and checks what each was told. */
	async world(
		round: number,
		...nodeIds: readonly string[]
	): Promise<readonly WorkerRecord[]> {
		const nodes = nodeIds.map((nodeId) => this.#agentOf(nodeId).node);
		const workers = await this.#orExplain(
			this.site.sawWorkers(sizeOf(nodes), round),
		);
		expect(workers.map(({ env }) => pick(env, RANK_VARIABLES))).toEqual(
			expectedRanks(nodes),
		);
		const shared = workers.map(({ env }) => pick(env, SHARED_VARIABLES));
		expect(shared).toEqual(shared.map(() => shared[0]));
		return workers;
	}

	/** The same of the newest round, once these are its members: for where others may come before. */
	async newestWorld(
		...nodeIds: readonly string[]
	): Promise<readonly WorkerRecord[]> {
		const round = await this.#orExplain(
			this.store.sawMembers(nodeIds),
		);
		return this.world(round, ...nodeIds);
	}

	/** Makes a worker that obeys exit with this code. */
	tell({ pid }: WorkerRecord, exitCode: number): void {
		writeFileSync(this.#fileOf(pid, "order"), String(exitCode));
		process.kill(pid, "SIGUSR2");
	}

	/** When a worker that obeys and exited did so; its `extra.startedAt` is on the same clock. */
	endOf({ pid }: WorkerRecord): number {
		return Number(readFileSync(this.#fileOf(pid, "ended"), "utf8"));
	}

	/** Ends an agent by SIGKILL. Its lease lives on. */
	async kill(nodeId: string): Promise<void> {
		const launch = this.launchOf(nodeId);
		launch.signal("SIGKILL");
		await launch.ended;
	}

	/** Ends an agent by SIGKILL, and its lease. */
	async vanish(nodeId: string): Promise<void> {
		await this.kill(nodeId);
		await this.store.endLease(nodeId);
	}

	/** Waits for agents to end, and checks their exit codes. */
	async ends(
		exitCodes: Readonly<Record<string, number>>,
	): Promise<Readonly<Record<string, LaunchEnd>>> {
		const ends = await Promise.all(
			Object.keys(exitCodes).map(async (nodeId) => {
				const end = await this.#orExplain(this.launchOf(nodeId).ended);
				return [nodeId, end] as const;
			}),
		);
		expect(
			Object.fromEntries(ends.map(([nodeId, end]) => [nodeId, end.exitCode])),
			this.#whatWasSaid(),
		).toEqual(exitCodes);
		return Object.fromEntries(ends);
	}

	/** Tells all agents that run to leave, and waits until nothing is left of them. */
	async stop(): Promise<void> {
		const running = [...this.#agents].filter(
			([, { launch }]) => !launch.hasEnded,
		);
		for (const [, { launch }] of running) launch.signal("SIGTERM");
		await this.ends(Object.fromEntries(running.map(([nodeId]) => [nodeId, 143])));
		await this.site.isSwept();
	}

	#agentOf(nodeId: string): Agent {
		const agent = this.#agents.get(nodeId);
		if (agent === undefined) throw new Error(`${nodeId} was not started`);
		return agent;
	}
