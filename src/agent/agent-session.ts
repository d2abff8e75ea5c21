import { isUnreachable } from "../base/back-off.js";
import { ElasticRunError, EXIT_CODES, messageOf } from "../base/errors.js";
import { formatDuration } from "../base/units.js";
import { within } from "../base/within.js";
import { readOomKills } from "../processes/index.js";
import {
	adviseLonely,
	GarbledRecordError,
	lostTooLong,
	type RoundRecord,
	type RoundView,
	spentByRun,
	usedOf,
} from "../rendezvous/index.js";
import type { RunReport, WorkerResult } from "../status/index.js";
import { Agent, Inbox } from "./agent.js";
import type {
	AgentSessionOptions,
	StopRequest,
} from "./agent-session-options.js";
import { NewcomerNotice } from "./joining/newcomer-notice.js";
import { runSpec } from "./joining/run-spec.js";
import type { NoticeInput } from "./machine/inputs.js";
import { type Ending, leftWith } from "./machine/state.js";
import { type OpenSteps, openSteps } from "./open-steps.js";
import { buildReport } from "./presence/build-report.js";
import { budgetAtEnd, keepEndedRun, lastLook } from "./presence/ended-run.js";
import { publishLocally } from "./presence/local-run.js";
import { PinnedView } from "./presence/pinned-view.js";
import { shareImports } from "./workers/learned-list.js";
import {
	type NodeResources,
	openNodeResources,
	Replies,
} from "./workers/node-resources.js";
import { WorkerGroup } from "./workers/worker-group.js";
import { NodeWorkplace } from "./workers/workplace.js";

/** How long the end waits for the last record of the ledger, in milliseconds. */
const LAST_WRITE_MS = 1_000;

/** The parts of a session, in the order in which they are opened; each uses only those before it. */
interface Parts {
	readonly resources: NodeResources;
	readonly workers: WorkerGroup;
	readonly watches: OpenSteps;
	readonly agent: Agent;
}

/** A node's part in a run that it has joined, until its last worker is gone. */
export class AgentSession {
	private readonly inbox = new Inbox();
	private resources: NodeResources | undefined;
	private workers: WorkerGroup | undefined;
	private view: RoundView | null = null;
	private readonly newcomer: NewcomerNotice;
	/** Undefined without a terminal. */
	private readonly pinned: PinnedView | undefined;
	/** Reports an error that ends the agent. */
	private fail: (error: unknown) => void = () => {};
	private readonly failed = this.nextFailure();

	constructor(private readonly options: AgentSessionOptions) {
		const { config, isReturning, place } = options;
		this.newcomer = new NewcomerNotice(config, isReturning, place.log);
		const show = place.screen?.show;
		this.pinned = show && new PinnedView({ ...place, ...config, show });
	}

	askToStop(request: StopRequest): void {
		// An immediate stop does not wait for a console without a reader.
		if (request.immediately) this.resources?.console.close();
		this.inbox.dispatch(request);
	}

	readonly notice = (input: NoticeInput) => this.inbox.dispatch(input);

	/** Returns the ranks that received it. */
	passOn(signal: NodeJS.Signals): readonly number[] {
		return this.workers?.passOn(signal) ?? [];
	}

	/** Resolves once the run has ended for this agent and none of its workers is left. */
	async toTheEnd(): Promise<RunReport> {
		const resources = await this.openResources();
		const replies = this.openReplies(resources);
		const workers = this.openWorkers(resources, replies);
		const watches = this.openWatches(resources, replies, workers);
		const agent = this.openAgent(workers, watches);
		this.options.openNotices();
		const ending = this.ownEnding(await this.supervise(agent, workers));
		return this.end(ending, { resources, workers, watches, agent });
	}

	private async openResources(): Promise<NodeResources> {
		const { options, notice } = this;
		const { config, place } = options;
		const resources = await openNodeResources(config, options, place);
		this.resources = resources;
		shareImports(options, resources);
		await publishLocally({ ...options, ...place, notice }, resources);
		options.observer?.joined(options, resources);
		if (resources.guard) options.links?.guardBy(resources.guard);
		place.log.info(
			`run ${config.runId} on ${config.nodeId}: logs in ${resources.logs.directory}`,
		);
		return resources;
	}

	private openReplies({ channels }: NodeResources): Replies {
		const { place } = this.options;
		const replies = new Replies(channels, place);
		place.cleanups.add("closing the watch on replies", () => replies.close());
		return replies;
	}

	/** The node's workers, round after round. The first are spawned when a round has a seat for the node. */
	private openWorkers(resources: NodeResources, replies: Replies): WorkerGroup {
		const { options, inbox } = this;
		const { config, place, ports, observer, membership } = options;
		const logs = observer?.noting(resources.logs) ?? resources.logs;
		const workplace = new NodeWorkplace({
			...resources,
			...place,
			config,
			incarnation: options.incarnation,
			logs,
			replies,
		});
		const workers = new WorkerGroup({
			...place,
			spawner: resources.spawner,
			workplace,
			readOomKills,
			runId: config.runId,
			noticeSignal: config.noticeSignal,
			holdsLease: () => membership.holdsLease(),
			onSpawning: () => ports.release(),
			onStarted: (...started) => {
				this.logStart(...started);
				ports.prepare();
				workplace.removeDiscarded();
			},
			dispatch: (input) => {
				if (input.kind === "worker-exited") resources.logSpace.look();
				inbox.dispatch(input);
			},
		});
		replies.deliverTo(workers.receive);
		this.workers = workers;
		return workers;
	}

	private logStart(
		{ synced, world }: RoundRecord,
		workers: readonly Pick<WorkerResult, "pid" | "rank">[],
		kept: number,
		ended: number,
	): void {
		const { log, standIn } = this.options.place;
		const pids = workers.flatMap(({ pid }) => pid ?? []);
		const of = `of ${world?.worldSize ?? 0} workers`;
		const started =
			kept === 0
				? `started ${pids.length} ${of}`
				: `${kept} kept, ${pids.length - kept - ended} started, ${of}`;
		const words = standIn
			? `round ${synced} has begun: the barrier is down`
			: `round ${synced}: ${started}`;
		log.info(words, { round: synced, pids, firstRank: workers[0]?.rank ?? 0 });
	}

	/** What follows the workers' steps and ends. */
	private openWatches(
		resources: NodeResources,
		replies: Replies,
		workers: WorkerGroup,
	): OpenSteps {
		const { options, inbox } = this;
		const { starts, logs } = resources;
		const watches = openSteps({
			...options,
			...options.place,
			workers,
			replies,
			resources,
			logDirectory: logs.directory,
			onLook: (...steps) => this.pinned?.followSteps(...steps),
			onHang: (kind) => options.observer?.hung(kind),
			starts,
			onStep: (...step) => starts?.stepped(...step),
			dispatch: inbox.dispatch,
		});
		replies.deliverTo((...reply) => watches.steps.heard(...reply));
		return watches;
	}

	private openAgent(workers: WorkerGroup, watches: OpenSteps): Agent {
		const { config, place, membership, incarnation, observer } = this.options;
		const { restartLimits, maxRestarts } = config;
		return new Agent({
			clock: place.clock,
			log: place.log,
			settings: {
				...config,
				incarnation,
				isSpent: (round, wallTime) =>
					usedOf(spentByRun(round), restartLimits, wallTime) >= maxRestarts,
			},
			inbox: this.inbox,
			membership,
			workers,
			steps: watches.steps,
			onState: (state) => {
				watches.follow(state);
				this.pinned?.follow(state);
				observer?.follow(state);
			},
			onError: (error) => this.fail(error),
		});
	}

	/** An internal error ends the launch, but only after its workers have ended. */
	private async supervise(agent: Agent, workers: WorkerGroup): Promise<Ending> {
		const { dispatch } = this.inbox;
		const { place, links, config, incarnation } = this.options;
		const { log } = place;
		const self = { nodeId: config.nodeId, incarnation, link: config.link };
		this.options.membership.start({
			onView: (view) => {
				this.view = view;
				this.newcomer.see(view);
				links?.follow(self, view.round, view.seat);
				dispatch({ kind: "round-seen", view });
			},
			onLost: (reason, fenceAt) =>
				dispatch({ kind: "session-lost", reason, fenceAt }),
			onLongerLease: (ttlMs) =>
				log.warn(
					`this node's lease now lives for ${formatDuration(ttlMs)}: the store answers, so the last one was too short for this machine or its store`,
				),
			onError: (error) => this.fail(error),
		});
		try {
			return await Promise.race([agent.ended, this.failed]);
		} catch (error) {
			if (endsInOrder(error)) await this.endWorkers(agent, error);
			workers.killAll();
			agent.close();
			throw error instanceof ElasticRunError
				? lostTooLong(error, this.options.config)
				: new ElasticRunError("INTERNAL", messageOf(error), { cause: error });
		}
	}

	/** Ends workers that no round will follow, with their usual grace. The lease still limits it. */
	private async endWorkers(
		agent: Agent,
		{ exitCode, message: reason }: ElasticRunError,
	): Promise<void> {
		// Another read of the same store fails in the same way.
		const failed = this.nextFailure((error) => !endsInOrder(error));
		const immediately = false;
		this.inbox.dispatch({ kind: "stop-asked", exitCode, reason, immediately });
		await Promise.race([agent.ended, failed]).catch(() => {});
	}

	private nextFailure(isIt = (_: unknown) => true): Promise<never> {
		const failure = new Promise<never>((_, reject) => {
			this.fail = (error) => {
				if (isIt(error)) reject(error);
			};
		});
		// It is awaited only while the agent runs.
		failure.catch(() => {});
		return failure;
	}

	/** What the run's end means for this agent. The success of another command is not its success. */
	private ownEnding(ending: Ending): Ending {
		const hasRun = (this.workers?.results.length ?? 0) > 0;
		const isOwnCommand = !this.options.ranOtherCommand || hasRun;
		if (isOwnCommand || ending.outcome !== "succeeded") return ending;
		return leftWith(
			EXIT_CODES.rendezvous,
			"the run succeeded with another command than this agent's, which did not run",
		);
	}

	/** Leaves the run, and reports how it went. */
	private async end(ending: Ending, parts: Parts): Promise<RunReport> {
		const { options } = this;
		const { config, place, instance, leave } = options;
		const { resources, workers, watches, agent } = parts;
		const { steps, stuck, ledger } = watches;
		// Other nodes wait for this one to leave, and removing its directories may take a while.
		await Promise.all([
			leave(ending),
			resources.console.drain(),
			within(place.clock, LAST_WRITE_MS, ledger.close()),
		]);
		adviseLonely(ending, config, place.log);
		const last = await lastLook(ending, { ...options, ...place });
		const wallTime = place.clock.wallTime();
		const report = buildReport({
			config,
			ending,
			instance,
			wallTime,
			ownBudget: budgetAtEnd(last, config, runSpec(config), wallTime),
			round: this.view?.round ?? null,
			rounds: agent.history.rounds,
			startsIn: (round) => resources.starts?.startsIn(round),
			workers: workers.results,
			progress: steps.lastProgress(),
			stuck: stuck.linesOf(ending.root?.round),
			wordsOf: (pid) => workers.wordsOf(pid),
			logDir: resources.logs.kept,
		});
		return keepEndedRun(report, { last, config, ...place });
	}
}

/**
 * Whether workers get their usual grace after this error: only the store or its content is at fault, and no other process
 * can take this node's place meanwhile.
 */
function endsInOrder(error: unknown): error is ElasticRunError {
	return isUnreachable(error) || error instanceof GarbledRecordError;
}
