import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFailed } from "vitest";
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
import { isAlive } from "./processes.js";
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
	readonly #frozen = new Set<string>();

	constructor(
		private readonly etcd: EtcdNode,
		private readonly options: ClusterOptions,
	) {
		this.store = new RunInStore(etcd, `cluster-${++clusters}`);
		onTestFailed(() => console.log(this.#whatWasSaid()));
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

	/** Starts those of these agents that were not started, at once, and waits for round 1; its members by rank. */
	async form<NodeIds extends readonly string[]>(
		...nodeIds: NodeIds
	): Promise<{ readonly [Index in keyof NodeIds]: string }>;
	async form(...nodeIds: readonly string[]): Promise<readonly string[]> {
		for (const nodeId of nodeIds) {
			if (!this.#agents.has(nodeId)) this.agent(nodeId);
		}
		const members = await this.store.sawMembers(1);
		expect([...members].sort()).toEqual([...nodeIds].sort());
		await this.world(1, ...members);
		return members;
	}

	/** The newest agent of a node. */
	launchOf(nodeId: string): Launch {
		return this.#agentOf(nodeId).launch;
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
		const nodes = nodeIds.map((nodeId) => this.#agentOf(nodeId).node);
		const workers = await this.site.sawWorkers(sizeOf(nodes), round);
		expect(workers.map(({ env }) => pick(env, RANK_VARIABLES))).toEqual(
			expectedRanks(nodes),
		);
		const shared = workers.map(({ env }) => pick(env, SHARED_VARIABLES));
		expect(shared).toEqual(shared.map(() => shared[0]));
		const left = this.site
			.workers()
			.filter(
				({ pid, env }) => Number(env.ELASTIC_RUN_ROUND) < round && isAlive(pid),
			)
			.map(({ env }) => env.ELASTIC_RUN_NODE_ID ?? "");
		expect(left.filter((nodeId) => !this.#frozen.has(nodeId))).toEqual([]);
		return workers;
	}

	/** The same of the newest round, once these are its members: for where others may come before. Its members by rank. */
	async newestWorld(...nodeIds: readonly string[]): Promise<readonly string[]> {
		const round = await this.store.sawRoundOf(nodeIds);
		const members = await this.store.sawMembers(round);
		await this.world(round, ...members);
		return members;
	}

	/** SIGSTOP to an agent; its workers run on. */
	freeze(nodeId: string): void {
		this.#frozen.add(nodeId);
		this.launchOf(nodeId).signal("SIGSTOP");
	}

	thaw(nodeId: string): void {
		this.#frozen.delete(nodeId);
		this.launchOf(nodeId).signal("SIGCONT");
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
		const running = [...this.#agents].filter(
			([, { launch }]) => !launch.hasEnded,
		);
		for (const [, { launch }] of running) launch.signal("SIGTERM");
		for (const [nodeId] of running) await this.ends({ [nodeId]: 143 });
		await this.site.isSwept();
	}

	#agentOf(nodeId: string): Agent {
		const agent = this.#agents.get(nodeId);
		if (agent === undefined) throw new Error(`${nodeId} was not started`);
		return agent;
	}

	#fileOf(pid: number, ending: string): string {
		return join(this.site.environment.JOB_RECORDS ?? "", `${pid}.${ending}`);
	}

	#whatWasSaid(): string {
		return [...this.#agents]
			.map(([nodeId, { launch }]) => `${nodeId}:\n${launch.output.stderr}`)
			.join("\n");
	}
}

function pick(
	env: WorkerRecord["env"],
	names: readonly string[],
): Readonly<Record<string, string | undefined>> {
	return Object.fromEntries(names.map((name) => [name, env[name]]));
}
