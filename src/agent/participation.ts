import type { WorkerChannel } from "../channel/worker-channel.js";
import { ElasticRunError, EXIT_CODES, messageOf } from "../errors.js";
import { isUnreachable } from "../rendezvous/back-off.js";
import type { Membership, RoundView } from "../rendezvous/membership.js";
import type { Store } from "../rendezvous/store.js";
import { Agent } from "./agent.js";
import { buildReport } from "./build-report.js";
import { loopbackTrouble } from "./configuration/resolve-store.js";
import type { NodeConfig } from "./enter-run.js";
import type { Observer } from "./http/observer.js";
import type { AgentInput } from "./inputs.js";
import { NewcomerNotice } from "./newcomer-notice.js";
import {
	type NodePlace,
	type NodeResources,
	openNodeResources,
	Replies,
} from "./node-resources.js";
import { prepareWorker } from "./prepare-worker.js";
import { lostTooLong } from "./reach-store.js";
import type { RunReport } from "./report/run-report.js";
import type { PortReservation } from "./reserve-port.js";
import type { Ending } from "./state.js";
import { openToCommands } from "./status/open-to-commands.js";
import { stateFollower } from "./status/state-follower.js";
import { readOomKills } from "./supervision/oom-kills.js";
import { describeStart, WorkerGroup } from "./worker-group.js";

export type StopRequest = AgentInput & { kind: "stop-asked" };

export interface ParticipationOptions {
	readonly config: NodeConfig;
	readonly place: NodePlace;
	readonly membership: Membership;
	readonly instance: number;
	/** Names this process. */
	readonly incarnation: string;
	readonly ports: Pick<PortReservation, "prepare" | "release">;
	/** The run knew this node before. */
	readonly isReturning: boolean;
	/** Where the run's state is. */
	readonly store: Store;
	/** Tells of this agent over HTTP; undefined: nobody does. */
	readonly observer: Observer | undefined;
	/** Gives up this node's place in the run; nobody need wait for what is left to be done here. */
	readonly leave: () => Promise<void>;
}

/** A node's part in a run that it has joined, until its last worker is gone. */
export class Participation {
	private agent: Agent | undefined;
	private resources: NodeResources | undefined;
	private view: RoundView | null = null;
	private stopRequest: StopRequest | undefined;
	private readonly newcomer: NewcomerNotice;
	/** An error that the agent cannot go on after. */
	fail: (error: unknown) => void = () => {};
	private readonly failed = this.nextFailure();

	constructor(private readonly options: ParticipationOptions) {
		const { config, isReturning, place } = options;
		this.newcomer = new NewcomerNotice(config, isReturning, place.log);
	}

	see(view: RoundView): void {
		this.view = view;
		this.newcomer.see(view);
		this.agent?.see(view);
	}

	/** The session with the store is over; the workers must be dead by then. */
	loseSession(reason: string, fenceAt: number): void {
		this.agent?.dispatch({ kind: "session-lost", reason, fenceAt });
	}

	askToStop(request: StopRequest): void {
		this.stopRequest = request;
		// Who is in such a hurry does not wait for a console that nobody reads.
		if (request.immediately) this.resources?.console.close();
		this.agent?.dispatch(request);
	}

	/** Resolves when the run has ended for this agent and none of its workers is left. */
	async toTheEnd(): Promise<RunReport> {
		const { config, place, instance, incarnation } = this.options;
		const { cleanups, log } = place;
		const start = { instance, incarnation };
		const resources = await openNodeResources(config, start, place);
		this.resources = resources;
		openToCommands({ ...this.options, ...place }, resources);
		this.options.observer?.joined(this.options, resources);
		const { directory } = resources.logs;
		log.info(`run ${config.runId} on ${config.nodeId}: logs in ${directory}`);
		const replies = new Replies(resources.channels, place, (...said) =>
			workers.hear(...said),
		);
		cleanups.add("closing the watch on replies", () => replies.close());
		const workers = this.openWorkers(resources, replies);
		const agent = this.openAgent(workers);
		const ending = await this.supervise(agent, workers);
		// Others wait for this node to be gone, and its directories may take a while.
		await Promise.all([this.options.leave(), resources.console.drain()]);
		this.advise(ending);
		return buildReport({
			config,
			ending,
			round: this.view?.round ?? null,
			instance,
			rounds: agent.history.rounds,
			workers: workers.results,
			logDir: directory,
		});
	}

	/** Where nodes did not find each other, each of them may have been alone with a store of its own. */
	private advise({ exitCode }: Ending): void {
		if (exitCode !== EXIT_CODES.rendezvous) return;
		const advice = loopbackTrouble(this.options.config);
		if (advice !== undefined) this.options.place.log.warn(advice);
	}

	/** An internal error ends the launch, but not before its workers are ended. */
	private async supervise(agent: Agent, workers: WorkerGroup): Promise<Ending> {
		this.agent = agent;
		if (this.stopRequest) agent.dispatch(this.stopRequest);
		this.options.membership.start();
		try {
			return await Promise.race([agent.ended, this.failed]);
		} catch (error) {
			if (isUnreachable(error)) await this.endWorkers(agent, messageOf(error));
			workers.killAll();
			agent.close();
			throw error instanceof ElasticRunError
				? lostTooLong(error, this.options.config)
				: new ElasticRunError("INTERNAL", messageOf(error), { cause: error });
		}
	}

	/** Workers that were kept for a round which will not come have their time to end. */
	private async endWorkers(agent: Agent, reason: string): Promise<void> {
		const failed = this.nextFailure();
		const exitCode = EXIT_CODES.storeUnreachable;
		const immediately = false;
		agent.dispatch({ kind: "stop-asked", exitCode, reason, immediately });
		await Promise.race([agent.ended, failed]).catch(() => {});
	}

	private nextFailure(): Promise<never> {
		const failure = new Promise<never>((_, reject) => {
			this.fail = reject;
		});
		// It is awaited only while the agent runs.
		failure.catch(() => {});
		return failure;
	}

	private openWorkers(resources: NodeResources, replies: Replies): WorkerGroup {
		const { config, place, ports, observer, incarnation } = this.options;
		const logs = observer?.noting(resources.logs) ?? resources.logs;
		// They are removed when the next round's workers run: no restart waits for it.
		const discarded: WorkerChannel[] = [];
		return new WorkerGroup({
			runId: config.runId,
			clock: place.clock,
			spawner: resources.spawner,
			readOomKills,
			prepare: (info, round) =>
				prepareWorker(info, round, {
					...{ ...resources, ...place, logs },
					...{ config, incarnation },
					readReplies: (channel) => replies.readNow(channel.directory),
					discardChannel: (channel) => {
						replies.readNow(channel.directory);
						discarded.push(channel);
					},
				}),
			onSpawning: () => ports.release(),
			onStarted: (round, workers, kept) => {
				this.agent?.started(round);
				const pids = workers.flatMap(({ pid }) => pid ?? []);
				place.log.info(describeStart(round, pids.length, kept), {
					...{ round: round.synced, pids },
					firstRank: workers[0]?.rank ?? 0,
				});
				resources.channels.installDoorbells();
				replies.listen();
				ports.prepare();
				for (const channel of discarded.splice(0)) channel.remove();
			},
			dispatch: (input) => {
				if (input.kind === "worker-exited") resources.logSpace.look();
				this.agent?.dispatch(input);
			},
		});
	}

	private openAgent(workers: WorkerGroup): Agent {
		const { config, place, membership, incarnation, observer } = this.options;
		const { runId, nodeId, policy, maxRestarts } = config;
		const { shutdownTimeoutMs, pauseTimeoutMs } = config;
		return new Agent({
			clock: place.clock,
			log: place.log,
			settings: {
				runId,
				nodeId,
				incarnation,
				policy,
				maxRestarts,
				shutdownTimeoutMs,
				pauseTimeoutMs,
			},
			membership,
			workers,
			onState: stateFollower(config, place, observer),
			onError: (error) => this.fail(error),
		});
	}
}
