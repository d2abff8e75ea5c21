import { randomUUID } from "node:crypto";
import { ownIdentity } from "../channel/process-identity.js";
import type { WorkerChannel } from "../channel/worker-channel.js";
import { ElasticRunError, messageOf } from "../errors.js";
import { Membership, type RoundView } from "../rendezvous/membership.js";
import { MemoryStore } from "../rendezvous/memory-store.js";
import type { Outcome } from "../rendezvous/records.js";
import { Agent } from "./agent.js";
import { buildReport } from "./build-report.js";
import type { AgentConfig } from "./configuration/agent-config.js";
import {
	type NodePlace,
	type NodeResources,
	openNodeResources,
	Replies,
} from "./node-resources.js";
import { endingOf } from "./phases/ending.js";
import { prepareWorker } from "./prepare-worker.js";
import type { RunReport } from "./report/run-report.js";
import { PortReservation } from "./reserve-port.js";
import { runSpec } from "./run-spec.js";
import type { AgentInput, Ending } from "./state.js";
import { readOomKills } from "./supervision/oom-kills.js";
import { WorkerGroup } from "./worker-group.js";

type StopRequest = AgentInput & { kind: "stop-asked" };

/** One node's part in one run, from joining it to the report. */
export class NodeRun {
	private readonly incarnation = randomUUID();
	private readonly ports: PortReservation;
	private readonly membership: Membership;
	private agent: Agent | undefined;
	private resources: NodeResources | undefined;
	private stopRequest: StopRequest | undefined;
	private view: RoundView | null = null;
	private failLaunch: (error: unknown) => void = () => {};
	private readonly failed: Promise<never>;

	constructor(
		private readonly config: AgentConfig,
		private readonly place: NodePlace,
	) {
		this.ports = new PortReservation(config.localAddr);
		this.membership = this.openMembership();
		this.failed = new Promise((_, reject) => {
			this.failLaunch = reject;
		});
		// It is awaited only while the agent runs.
		this.failed.catch(() => {});
	}

	/** The agent leaves the run: its workers get SIGTERM and, `immediately`, SIGKILL. */
	askToStop(
		stop: { readonly exitCode: number; readonly reason: string },
		immediately: boolean,
	): void {
		this.stopRequest = { kind: "stop-asked", ...stop, immediately };
		// Who is in such a hurry does not wait for a console that nobody reads.
		if (immediately) this.resources?.console.close();
		this.agent?.dispatch(this.stopRequest);
	}

	/** Resolves when the run has ended for this agent and none of its workers is left. */
	async toTheEnd(): Promise<RunReport> {
		const { cleanups, log } = this.place;
		cleanups.add("freeing the port", () => this.ports.release());
		cleanups.add("leaving the run", () => this.membership.close());
		const joined = await this.membership.join();
		if ("outcome" in joined) return this.reportLate(joined.outcome);

		const { instance } = joined;
		const resources = await openNodeResources(
			this.config,
			instance,
			this.place,
		);
		this.resources = resources;
		const { directory } = resources.logs;
		log.info(
			`run ${this.config.runId} on ${this.config.nodeId}: logs in ${directory}`,
		);
		const replies = new Replies(resources.channels, this.place);
		cleanups.add("closing the watch on replies", () => replies.close());
		const workers = this.openWorkers(resources, replies);
		const agent = this.openAgent(workers);
		const ending = await this.supervise(agent, workers);
		await resources.console.drain();
		return buildReport({
			config: this.config,
			ending,
			round: this.view?.round ?? null,
			instance,
			rounds: agent.history.rounds,
			workers: workers.results,
			logDir: directory,
		});
	}

	/** An internal error ends the launch, but not before its workers are ended. */
	private async supervise(agent: Agent, workers: WorkerGroup): Promise<Ending> {
		this.agent = agent;
		if (this.stopRequest) agent.dispatch(this.stopRequest);
		this.membership.start();
		try {
			return await Promise.race([agent.ended, this.failed]);
		} catch (error) {
			workers.killAll();
			throw error instanceof ElasticRunError
				? error
				: new ElasticRunError("INTERNAL", messageOf(error), { cause: error });
		}
	}

	private openWorkers(resources: NodeResources, replies: Replies): WorkerGroup {
		const { config, place } = this;
		// They are removed when the next round's workers run: no restart waits for it.
		const discarded: WorkerChannel[] = [];
		return new WorkerGroup({
			runId: config.runId,
			clock: place.clock,
			spawner: resources.spawner,
			readOomKills,
			prepare: (info, round) =>
				prepareWorker(info, round, {
					...resources,
					...place,
					config,
					discardChannel: (channel) => {
						replies.readNow(channel.directory);
						discarded.push(channel);
					},
				}),
			onSpawning: () => this.ports.release(),
			onStarted: (round, pids) => {
				this.agent?.started(round);
				place.log.info(
					`round ${round.synced}: started ${pids.length} of ${round.world?.worldSize ?? 0} workers`,
					{
						round: round.synced,
						pids,
					},
				);
				replies.listen();
				for (const channel of discarded.splice(0)) channel.remove();
			},
			dispatch: (input) => {
				if (input.kind === "worker-exited") resources.logSpace.look();
				this.agent?.dispatch(input);
			},
		});
	}

	private openAgent(workers: WorkerGroup): Agent {
		const { runId, nodeId, policy, maxRestarts, shutdownTimeoutMs } =
			this.config;
		return new Agent({
			clock: this.place.clock,
			log: this.place.log,
			settings: {
				runId,
				nodeId,
				incarnation: this.incarnation,
				policy,
				maxRestarts,
				shutdownTimeoutMs,
			},
			membership: this.membership,
			workers,
			onError: this.failLaunch,
		});
	}

	private openMembership(): Membership {
		const { config, place } = this;
		const self = ownIdentity();
		return new Membership({
			store: new MemoryStore(),
			clock: place.clock,
			runId: config.runId,
			identity: {
				nodeId: config.nodeId,
				incarnation: this.incarnation,
				hostId: self.bootId,
				pid: self.pid,
				startTime: self.startTime,
				address: config.localAddr,
				localWorldSize: config.nprocPerNode,
				role: config.role,
			},
			spec: runSpec(config),
			reservePort: () => this.ports.reserve(),
			// A store in memory holds no record of another process.
			isDead: () => false,
			random: Math.random,
			onView: (view) => {
				this.view = view;
				this.agent?.see(view);
			},
			onLost: (reason, fenceAt) =>
				this.agent?.dispatch({ kind: "session-lost", reason, fenceAt }),
			onError: (error) => this.failLaunch(error),
			onPlanReason: (reason) => place.log.debug(reason),
		});
	}

	private reportLate(outcome: Outcome): RunReport {
		return buildReport({
			config: this.config,
			ending: endingOf(outcome),
			round: null,
			instance: 0,
			rounds: [],
			workers: [],
			logDir: null,
		});
	}
}
