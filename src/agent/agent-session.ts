import { ElasticRunError, EXIT_CODES, messageOf } from "../base/errors.js";
import { within } from "../base/within.js";
import { adviseLonely, lostTooLong } from "../rendezvous/access/reach-store.js";
import type { RoundView } from "../rendezvous/member/membership.js";
import { spentByRun, usedOf } from "../rendezvous/records/budgets.js";
import type { RunReport } from "../status/report.js";
import { Agent } from "./agent.js";
import type {
	AgentSessionOptions,
	StopRequest,
} from "./agent-session-options.js";
import { EarlyInputs } from "./early-inputs.js";
import { endsInOrder } from "./joining/ends-in-order.js";
import { NewcomerNotice } from "./joining/newcomer-notice.js";
import { runSpec } from "./joining/run-spec.js";
import type { NoticeInput } from "./machine/inputs.js";
import { type AgentState, type Ending, leftWith } from "./machine/state.js";
import { type OpenSteps, openSteps, withStep } from "./open-steps.js";
import { openWorkers } from "./open-workers.js";
import { buildReport } from "./presence/build-report.js";
import { keepEndedRun } from "./presence/keep-ended-run.js";
import { budgetAtEnd, lastLook } from "./presence/last-look.js";
import { PinnedView } from "./presence/pinned-view.js";
import { publishLocally } from "./presence/publish-locally.js";
import { shareImports } from "./workers/learned-list.js";
import {
	type NodeResources,
	openNodeResources,
	Replies,
} from "./workers/node-resources.js";
import type { WorkerGroup } from "./workers/worker-group.js";

/** How long the end waits for the last record of the ledger, in milliseconds. */
const LAST_WRITE_MS = 1_000;

/** A node's part in a run that it has joined, until its last worker is gone. */
export class AgentSession {
	private readonly inputs = new EarlyInputs();
	private resources: NodeResources | undefined;
	private workers: WorkerGroup | undefined;
	private watches: OpenSteps | undefined;
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
		this.inputs.dispatch(request);
	}

	readonly notice = (input: NoticeInput) => this.inputs.dispatch(input);

	/** Returns the ranks that received it. */
	passOn(signal: NodeJS.Signals): readonly number[] {
		return this.workers?.passOn(signal) ?? [];
	}

	/** Resolves once the run has ended for this agent and none of its workers is left. */
	async toTheEnd(): Promise<RunReport> {
		const { config, place, instance } = this.options;
		const { cleanups, log } = place;
		const resources = await openNodeResources(config, this.options, place);
		this.resources = resources;
		shareImports(this.options, resources);
		const { options, notice } = this;
		await publishLocally({ ...options, ...place, notice }, resources);
		this.options.observer?.joined(this.options, resources);
		const { directory } = resources.logs;
		log.info(`run ${config.runId} on ${config.nodeId}: logs in ${directory}`);
		const replies = new Replies(resources.channels, place, (...said) => {
			workers.hear(...said);
			steps.heard(...said);
		});
		cleanups.add("closing the watch on replies", () => replies.close());
		const workers = openWorkers({
			...{ ...this.options, resources, replies },
			dispatch: (input) => this.inputs.dispatch(withStep(input, watches)),
		});
		this.workers = workers;
		const watches = openSteps({
			...{ ...this.options, ...place, workers, replies, resources },
			logDirectory: directory,
			onLook: (...steps) => this.pinned?.followSteps(...steps),
			onHang: (kind) => this.options.observer?.hung(kind),
			starts: resources.starts,
			onStep: (...step) => resources.starts?.stepped(...step),
			dispatch: this.inputs.dispatch,
		});
		this.watches = watches;
		const { steps, stuck, ledger } = watches;
		const agent = this.openAgent(workers);
		this.options.openNotices();
		const ending = ownEnding(
			await this.supervise(agent, workers),
			!this.options.ranOtherCommand || workers.results.length > 0,
		);
		// Other nodes wait for this one to leave, and removing its directories may take a while.
		await Promise.all([
			...[this.options.leave(ending), resources.console.drain()],
			within(place.clock, LAST_WRITE_MS, ledger.close()),
		]);
		adviseLonely(ending, config, log);
		const last = await lastLook(ending, { ...this.options, ...place });
		const wallTime = place.clock.wallTime();
		const report = buildReport({
			...{ config, ending, instance, wallTime },
			ownBudget: budgetAtEnd(last, config, runSpec(config), wallTime),
			round: this.view?.round ?? null,
			rounds: agent.history.rounds,
			startsIn: (round) => resources.starts?.startsIn(round),
			workers: workers.results,
			progress: steps.lastProgress(),
			stuck: stuck.linesOf(ending.root?.round),
			wordsOf: (pid) => workers.wordsOf(pid),
			logDir: directory,
		});
		return keepEndedRun(report, { last, config, ...place });
	}

	/** An internal error ends the launch, but only after its workers have ended. */
	private async supervise(agent: Agent, workers: WorkerGroup): Promise<Ending> {
		this.inputs.passTo(agent.dispatch);
		this.options.membership.start({
			onView: (view) => {
				this.view = view;
				this.newcomer.see(view);
				agent.dispatch({ kind: "round-seen", view });
			},
			onLost: (reason, fenceAt) =>
				agent.dispatch({ kind: "session-lost", reason, fenceAt }),
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
		agent.dispatch({ kind: "stop-asked", exitCode, reason, immediately });
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

	private openAgent(workers: WorkerGroup): Agent {
		const { config, place, membership, incarnation } = this.options;
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
			membership,
			workers,
			reached: () => this.watches?.steps.reached,
			onState: this.stateFollower(),
			onError: (error) => this.fail(error),
		});
	}

	/** Passes each new state to the terminal and the observer, if they exist. */
	private stateFollower(): (state: AgentState) => void {
		const { observer } = this.options;
		return (state) => {
			this.watches?.follow(state);
			this.pinned?.follow(state);
			observer?.follow(state);
		};
	}
}

/** What the run's end means for this agent. The success of another command is not its success. */
function ownEnding(ending: Ending, isOwnCommand: boolean): Ending {
	if (isOwnCommand || ending.outcome !== "succeeded") return ending;
	return leftWith(
		EXIT_CODES.rendezvous,
		"the run succeeded with another command than this agent's, which did not run",
	);
}
