import { Agent } from "../../src/agent/agent.js";
import {
	type Ending,
	endingOf,
	leftWith,
} from "../../src/agent/machine/state.js";
import { WorkerGroup } from "../../src/agent/workers/worker-group.js";
import { isUnreachable } from "../../src/base/back-off.js";
import {
	ElasticRunError,
	EXIT_CODES,
	messageOf,
} from "../../src/base/errors.js";
import type { LinkedAgent } from "../../src/model/index.js";
import type { NoticeSource } from "../../src/model/notice.js";
import { Membership } from "../../src/rendezvous/member/membership.js";
import type { Intent } from "../../src/rendezvous/records/intent.js";
import { RunKeys } from "../../src/rendezvous/records/keys.js";
import { type Link, openLink } from "./link.js";
import { identityOf, type ProcessHistory, startOf } from "./process-history.js";
import { SimLinks } from "./sim-links.js";
import type { SimAgentOptions } from "./sim-machine.js";
import { SIM_POLICIES } from "./sim-policies.js";
import { SimProcess } from "./sim-process.js";
import { SimSpawner } from "./sim-spawner.js";
import { SimStore } from "./sim-store.js";

const SIM_LINK = { address: "simulated", port: 1, secret: "5e" };

/** One agent process of a simulated run: the real agent and membership, and what a process has around them. */
export class SimAgent {
	readonly history: ProcessHistory;
	readonly process: SimProcess;
	readonly link: Link = openLink();
	readonly links: SimLinks | undefined;
	linkSpoiltUntil = 0;
	private isLost = false;
	private readonly store: SimStore;
	private readonly membership: Membership;
	private readonly agent: Agent;
	private readonly spawner: SimSpawner;
	private readonly workers: WorkerGroup;

	constructor(private readonly options: SimAgentOptions) {
		const { machine, nodeId, incarnation, role, localWorldSize } = options;
		const who = { nodeId, incarnation, role, localWorldSize };
		this.history = startOf(who, machine.timeline.now);
		machine.history.processes.push(this.history);
		this.process = new SimProcess(
			this.history,
			machine.timeline,
			machine.random,
		);
		this.spawner = new SimSpawner(machine, this.process, (...said) =>
			this.workers.receive(...said),
		);
		const { network } = machine;
		const self = { nodeId, incarnation, link: SIM_LINK };
		this.links = network && new SimLinks(network, this.process, self);
		this.store = new SimStore({
			etcd: options.etcd,
			timeline: machine.timeline,
			random: machine.random,
			process: this.process,
			link: this.link,
			doublesHints: options.doublesHints,
		});
		this.membership = this.openMembership();
		this.workers = this.openWorkers();
		this.agent = this.openAgent();
	}

	get isAlive(): boolean {
		return !this.process.dead;
	}

	async start(): Promise<void> {
		this.say("starts");
		try {
			const { isDead } = this.options;
			const joined = await this.membership.join({ isDead });
			if ("outcome" in joined) return this.end(endingOf(joined.outcome));
			this.follow();
			return this.end(await this.agent.ended);
		} catch (error) {
			return this.fail(error);
		}
	}

	askToStop(immediately = this.history.stopsAsked.length > 0): void {
		this.history.stopsAsked.push(this.options.machine.timeline.now);
		this.say(`is asked to stop${immediately ? " at once" : ""}`);
		this.process.deliver(() =>
			this.agent.dispatch({
				kind: "stop-asked",
				exitCode: 143,
				reason: "SIGTERM",
				immediately,
			}),
		);
	}

	/** Its machine will go; undefined: it is not known when. */
	notice(
		source: NoticeSource,
		inMs: number | undefined,
		origin?: string,
	): void {
		this.history.noticed.push(this.options.machine.timeline.now);
		this.say(`has a notice of ${source}: gone in ${inMs} ms`);
		const wallTime = this.process.clock.wallTime();
		const deadline = inMs === undefined ? undefined : wallTime + inMs;
		const reason = "spot interruption";
		const notice = { source, origin, reason, deadline };
		this.process.deliver(() =>
			this.agent.dispatch({ kind: "noticed", notice }),
		);
	}

	withdraw(source: NoticeSource, origin?: string): void {
		const reason = "not after all";
		this.history.noticed.push(this.options.machine.timeline.now);
		this.say(`has no notice of ${source} any more`);
		this.process.deliver(() =>
			this.agent.dispatch({ kind: "notice-withdrawn", source, origin, reason }),
		);
	}

	/** kill -9 of the agent: its guard ends the workers. */
	crash(): void {
		this.say("is killed");
		this.die();
		this.options.onKilled();
	}

	/** A guard tells it that this agent is dead, and no worker is left. */
	hear(dead: ProcessHistory): void {
		this.process.deliver(() => {
			this.say(`hears that ${dead.incarnation} is dead`);
			const { history, timeline } = this.options.machine;
			history.words.push({ at: timeline.now, by: this.history, of: dead });
			this.links?.exchange.hearGuard(dead);
			void this.endLeaseOf(dead);
		});
	}

	freeze(durationMs: number): void {
		this.say(`is frozen for ${Math.round(durationMs)} ms`);
		this.process.freeze(durationMs);
	}

	/** The machine that it is on sleeps. */
	sleep(durationMs: number): void {
		this.say(`'s machine sleeps for ${Math.round(durationMs)} ms`);
		const { machine } = this.options;
		this.process.sleep(durationMs);
		if (durationMs > machine.history.spec.leaseTtlMs) {
			machine.note("a machine sleeps longer than its lease lives");
		}
	}

	/** One of its workers fails. */
	failWorker(): void {
		this.spawner.failOne();
	}

	/** Its connection to the store is reset. */
	breakWatches(): void {
		this.store.breakWatches();
	}

	private async endLeaseOf(dead: ProcessHistory): Promise<void> {
		const { machine } = this.options;
		const isNextThere = machine.history.processes.some(
			({ nodeId, startedAt, endedAt }) =>
				nodeId === dead.nodeId &&
				startedAt > (dead.endedAt ?? 0) &&
				endedAt === null,
		);
		if (isNextThere)
			machine.note("a guard's word comes after its node's next process");
		try {
			const hasEnded = await this.membership.endLeaseOfDead(dead);
			if (hasEnded)
				machine.note("a guard's word ends the lease of a dead agent");
		} catch (error) {
			if (!isUnreachable(error)) await this.fail(error);
		}
	}

	private async end(ending: Ending): Promise<void> {
		this.say(`ends with ${ending.exitCode}: ${ending.reason}`);
		this.history.ending = ending;
		this.links?.bye();
		// Where the store does not answer, the lease lapses by itself.
		await this.membership.close().catch(() => {});
		if (this.process.dead) return;
		this.die();
		this.options.onEnded(ending);
	}

	/** As Participation does it: without a store, workers that were kept have their time to end. */
	private lose(error: unknown): void {
		if (!isUnreachable(error) || this.isLost) return void this.fail(error);
		this.isLost = true;
		const exitCode = EXIT_CODES.storeUnreachable;
		const reason = messageOf(error);
		const immediately = false;
		this.agent.dispatch({ kind: "stop-asked", exitCode, reason, immediately });
	}

	private fail(error: unknown): Promise<void> {
		this.history.hasFailed = true;
		this.workers.killAll();
		const known = error instanceof ElasticRunError ? error : undefined;
		const exitCode = known?.exitCode ?? EXIT_CODES.internal;
		const bug = error instanceof Error ? error.stack : undefined;
		const reason = known?.message ?? bug ?? String(error);
		return this.end(leftWith(exitCode, reason));
	}

	private die(): void {
		if (this.process.dead) return;
		this.process.dead = true;
		this.history.endedAt = this.options.machine.timeline.now;
		this.spawner.killAll();
		this.links?.cut();
		void this.store.close();
	}

	private say(what: string): void {
		this.options.machine.say(this.history.incarnation, what);
	}

	private follow(): void {
		this.membership.start({
			onView: (view) => {
				this.links?.follow(view, this.membersOf(view.round.planId));
				this.agent.dispatch({ kind: "round-seen", view });
			},
			onLost: (reason, fenceAt) => {
				this.history.lossesTold.push(this.options.machine.timeline.now);
				this.agent.dispatch({ kind: "session-lost", reason, fenceAt });
			},
			onLongerLease: () => {},
			onError: (error) => this.lose(error),
		});
	}

	/** By the store, in the order of their ranks. */
	private membersOf(planId: string | null): readonly LinkedAgent[] {
		const { etcd, runId } = this.options;
		const { seats } = new RunKeys(runId);
		return [...etcd.data.snapshot([seats]).entries.values()]
			.map(({ key, value }) => ({
				nodeId: key.slice(seats.length),
				seat: JSON.parse(value),
			}))
			.filter(({ seat }) => seat.planId === planId)
			.sort((left, right) => left.seat.groupRank - right.seat.groupRank)
			.map(({ nodeId, seat: { incarnation } }) => ({
				...{ nodeId, incarnation, link: SIM_LINK },
			}));
	}

	private openMembership(): Membership {
		const { machine, runId, batchSize } = this.options;
		const pid = machine.history.processes.length;
		return new Membership({
			store: this.store,
			clock: this.process.clock,
			runId,
			identity: {
				...identityOf(this.history, pid),
				link: this.links && SIM_LINK,
			},
			links: this.links?.exchange,
			relayedFrom: machine.network?.relayedFrom,
			onRide: (words) => this.say(words),
			spec: machine.history.spec,
			reservePort: async () => machine.random.integer(20_000, 60_000),
			random: machine.random.next,
			coordinating: {
				batchSize,
				onPlanReason: (reason) => this.say(`plans: ${reason}`),
				onSkipped: (words) => this.say(words),
			},
		});
	}

	private openWorkers(): WorkerGroup {
		return new WorkerGroup({
			runId: this.options.runId,
			clock: this.process.clock,
			spawner: this.spawner,
			holdsLease: () => this.membership.holdsLease(),
			workplace: this.spawner,
			readOomKills: () => undefined,
			onSpawning: () => {},
			log: { info: () => {}, warn: (message) => this.say(message) },
			onStarted: (round) => this.spawner.started(round),
			dispatch: (input) => this.agent.dispatch(input),
		});
	}

	private openAgent(): Agent {
		const { history } = this;
		const { runId, machine } = this.options;
		const { spec, policy, shutdownTimeoutMs } = machine.history;
		const tell = (line: string) => this.say(line);
		return new Agent({
			clock: this.process.clock,
			log: { debug: tell, info: tell, warn: tell, error: tell },
			settings: {
				policy: SIM_POLICIES[policy].make(),
				maxRestarts: spec.maxRestarts,
				runId,
				nodeId: history.nodeId,
				incarnation: history.incarnation,
				shutdownTimeoutMs,
				pauseTimeoutMs: machine.pauseTimeoutMs,
				rules: [],
				isRecreated: false,
			},
			membership: {
				publish: (intent: Intent | null) => {
					if (intent !== null) history.intent = intent;
					this.membership.publish(intent);
				},
			},
			workers: this.workers,
			onError: (error) => void this.fail(error),
		});
	}
}
