import { once } from "node:events";
import {
	type AgentObserver,
	AgentSession,
	buildReport,
	type Ending,
	type EnteredRun,
	endingOf,
	enterRun,
	type KeptOut,
	type LauncherIo,
	leftWith,
	OwnNode,
	PortReservation,
	runListener,
	type StopRequest,
} from "../agent/index.js";
import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import { within } from "../base/within.js";
import type { AgentConfig } from "../config/index.js";
import { hostIfAsked } from "../hosting/index.js";
import type { Leave, ProbedNode, ProbePlace } from "../http/index.js";
import type { Links } from "../links/index.js";
import type { LinkedAgent, NodeLinks } from "../model/index.js";
import { newIncarnation, type WorkerSpawner } from "../processes/index.js";
import {
	LoggingStore,
	type Membership,
	openStore,
	type RoundRecord,
	withAdvice,
} from "../rendezvous/index.js";
import type { RunReport } from "../status/index.js";
import type { Store } from "../store/index.js";
import { type AgentStatus, linksNow } from "./agent-status.js";
import { NoticeWatch } from "./notice-watch.js";

/**
 * How long a leaving agent waits for an unreachable store, in milliseconds. Within these bounds it is a part of the
 * lease's time.
 */
const LEAVE_WITHIN_MS = { least: 1_500, most: 6_000 };
const LEAVE_PART = 0.3;
/** An expired lease has vanished from the store after so many milliseconds. */
const LEASE_MARGIN_MS = 1_000;
const CLOSE_WITHIN_MS = 500;
/** Where workers of several nodes meet, the first node listens on all its addresses. */
const EVERY_ADDRESS = "::";

export type StopReason = Pick<StopRequest, "exitCode" | "reason" | "signal">;

const UNASKED =
	"etcd asks for no login: the given user name and password protect nothing, for everyone may enter; see etcdctl auth enable";

/** One node's part in one run, from the first contact with the store to the report. */
export class NodeLauncher {
	private readonly incarnation = newIncarnation();
	private readonly arrivedAt: number;
	readonly ports: PortReservation;
	readonly opening: Promise<Store>;
	private readonly notices: NoticeWatch;
	private membership: Membership | undefined;
	private session: AgentSession | undefined;
	private links: Links | undefined;
	private observer: AgentObserver | undefined;
	private stopRequest: StopRequest | undefined;
	private leaving: Promise<void> | undefined;
	/** Aborted once this agent is told to stop. */
	private readonly stop = new AbortController();
	private readonly stopped = once(this.stop.signal, "abort");

	constructor(
		private readonly config: AgentConfig,
		private readonly place: LauncherIo,
		private readonly watchers: Watchers = {},
	) {
		const { maxNodes, localAddr = EVERY_ADDRESS } = config;
		this.ports = new PortReservation(
			maxNodes > 1 ? EVERY_ADDRESS : localAddr,
			Math.random,
			(message) => place.log.warn(message),
		);
		this.opening = openStore(config, {
			clock: place.clock,
			random: Math.random,
			onUnasked: () => place.log.warn(UNASKED),
		});
		this.arrivedAt = place.clock.wallTime();
		this.notices = new NoticeWatch({
			...{ config, place, startedAt: this.arrivedAt },
			session: () => this.session,
			leave: (stop) => this.askToStop(stop, false),
		});
		// It is awaited later, or not at all.
		this.opening.catch(() => {});
	}

	/** Makes the agent leave the run: its workers get the signal or, with `immediately`, SIGKILL. */
	askToStop(stop: StopReason, immediately: boolean): void {
		this.stopRequest = { kind: "stop-asked", ...stop, immediately };
		this.session?.askToStop(this.stopRequest);
		this.stop.abort();
	}

	/** A signal asks the agent to stop; a platform's SIGTERM says that this machine will go. */
	signalled(stop: StopReason): void {
		if (!this.notices.signalled(stop.reason)) this.askToStop(stop, false);
	}

	/** Passes a signal on to the workers. */
	passOn(signal: NodeJS.Signals): void {
		const ranks = this.session?.passOn(signal) ?? [];
		const to = ranks.length === 0 ? "no worker" : `rank ${ranks.join(", ")}`;
		this.place.log.info(`${signal}: passed on to ${to}`);
	}

	/** Resolves once the run has ended for this agent and none of its workers is left. */
	async toTheEnd(): Promise<RunReport> {
		try {
			// An agent that still waits for a store or a node id stops at once.
			const entered = await Promise.race([this.enter(), this.stopped]);
			if ("config" in entered) return await this.takePart(entered);
			const { exitCode = 0, reason = "" } = this.stopRequest ?? {};
			const { clock } = this.place;
			const ending = leftWith(exitCode, reason);
			return reportUnstarted(ending, this.config, clock.wallTime());
		} catch (error) {
			throw withAdvice(error, this.config);
		}
	}

	private async enter(): Promise<EnteredRun | KeptOut> {
		const { config, place } = this;
		const { clock, cleanups, log } = place;
		cleanups.add("freeing the port", () => this.ports.close());
		cleanups.add("closing the store", () => this.closeStore());
		cleanups.add("leaving the run", () => this.leave());
		// First of all: if the address cannot be had, the launch is refused.
		const observer = await openNodeObserver(
			config,
			place,
			this.watchers.probe,
			(stop) => this.askToStop(stop, false),
			this.linksNow,
		);
		const told = alsoTelling(observer, this.watchers.onNode, clock);
		this.observer = await this.alsoTellingLinks(told);
		const isAborted = () => this.stopRequest !== undefined;
		await hostIfAsked({
			...place,
			config,
			isAborted,
			random: Math.random,
		});
		this.links = await openLinks(config, place, this.dead);
		cleanups.add("closing the links", () => this.links?.close());
		return enterRun({
			...place,
			config,
			store: new LoggingStore(await this.opening, clock, log),
			random: Math.random,
			incarnation: this.incarnation,
			links: this.links,
			listener: runListener(config, place, this),
			onMembership: (membership) => {
				this.membership = membership;
			},
			...{ isAborted, stop: this.stop.signal },
		});
	}

	private takePart(
		entered: EnteredRun | KeptOut,
	): Promise<RunReport> | RunReport {
		const wallTime = this.place.clock.wallTime();
		if ("keptOut" in entered) {
			return reportUnstarted(entered.keptOut, entered.config, wallTime);
		}
		const { config, membership, joined, isReturning, store } = entered;
		if ("outcome" in joined) {
			const { outcome, round } = joined;
			return reportUnstarted(endingOf(outcome), config, wallTime, round);
		}
		const { place, incarnation } = this;
		const { instance } = joined;
		const about = { config, incarnation, instance, store, place };
		this.session = new AgentSession({
			...about,
			membership,
			arrivedAt: this.arrivedAt,
			ports: this.ports,
			isReturning,
			ranOtherCommand: joined.otherCommand.length > 0,
			observer: this.observer,
			links: this.links,
			openNotices: () => this.notices.hearOrders(about),
			leave: ({ outcome }) => this.leave(outcome === "left"),
		});
		this.notices.joined(this.session);
		if (this.stopRequest) this.session.askToStop(this.stopRequest);
		return this.session.toTheEnd();
	}

	/** A node without links loads nothing for them. */
	private async alsoTellingLinks(
		observer: AgentObserver | undefined,
	): Promise<AgentObserver | undefined> {
		if (this.config.linkPort === undefined) return observer;
		const { tellingLinks } = await import("./links-file.js");
		return tellingLinks(observer, this.linksNow, this.place.clock);
	}

	private readonly linksNow = () =>
		linksNow(this.links?.now(), this.membership?.riding, this.place.clock);

	/** Nobody waits for the lease of an agent of which nothing is left. */
	private readonly dead = (dead: LinkedAgent): void => {
		const { log } = this.place;
		const { nodeId } = dead;
		this.membership?.endLeaseOfDead(dead).then(
			(held) => {
				if (!held) return;
				log.info(
					`${nodeId}'s launcher has died, and its guard says that no worker of it is left: its lease is ended`,
				);
			},
			(error) =>
				log.warn(
					`${nodeId}'s launcher has died, but its lease could not be ended and must lapse: ${messageOf(error)}`,
				),
		);
	};

	/**
	 * Once: its workers are gone, or it never had any. If the store does not answer, the lease expires by itself.
	 * @param isEarly the run goes on without this node: its platform need not wait any longer. After a run's end its
	 * machine may still be needed, for what a job's script does with the results
	 */
	private leave(isEarly = false): Promise<void> {
		this.leaving ??= this.leaveRun(isEarly);
		return this.leaving;
	}

	private async leaveRun(isEarly: boolean): Promise<void> {
		const { clock, log } = this.place;
		const left = this.membership?.close().then(
			() => true,
			() => false,
		);
		if (left === undefined) return;
		const { leaseTtlMs } = this.config.rendezvous;
		const { least, most } = LEAVE_WITHIN_MS;
		const withinMs = Math.min(most, Math.max(least, leaseTtlMs * LEAVE_PART));
		if (await within(clock, withinMs, left)) {
			return isEarly ? this.notices.left() : undefined;
		}
		const seconds = leaseTtlMs / 1000;
		log.warn(
			`the store could not be told that this node leaves: its lease lapses within ${seconds} s`,
		);
	}

	private async closeStore(): Promise<void> {
		// The reason why it could not be opened is already reported.
		const store = await this.opening.catch(() => undefined);
		if (store === undefined) return;
		await within(this.place.clock, CLOSE_WITHIN_MS, store.close());
	}
}

/** Opens this node's end of the links; without it the leases alone tell of a death. */
async function openLinks(
	{ linkPort, rendezvous }: AgentConfig,
	{ clock, log }: LauncherIo,
	onDead: (dead: LinkedAgent) => void,
): Promise<Links | undefined> {
	if (linkPort === undefined) return undefined;
	const { Links } = await import("../links/links.js");
	const random = Math.random;
	const decidedMs = rendezvous.leaseTtlMs + LEASE_MARGIN_MS;
	const about = { clock, random, log, port: linkPort, decidedMs, onDead };
	return Links.open(about).catch((error) => {
		log.warn(
			`this node has no links to the others (${messageOf(error)}): its death is noticed when its lease ends`,
		);
		return undefined;
	});
}

/** The parts of a node whose work is done elsewhere: `elastic-run barrier`. */
export interface BarrierParts {
	/** Takes the place of the workers' processes. */
	readonly spawner: WorkerSpawner;
	/** Where the start-up probe asks. */
	readonly probe: ProbePlace;
}

/** Who else follows the node. */
interface Watchers {
	readonly probe?: ProbePlace | undefined;
	readonly onNode?: ((status: AgentStatus) => void) | undefined;
}

/** An observer that also tells the program that launched this node. */
function alsoTelling(
	observer: AgentObserver | undefined,
	onNode: Watchers["onNode"],
	clock: Clock,
): AgentObserver | undefined {
	if (onNode === undefined) return observer;
	const own = new OwnNode(clock);
	let told = "";
	return {
		joined: (run, resources) => observer?.joined(run, resources),
		noting: (logs) => observer?.noting(logs) ?? logs,
		follow: (state) => {
			observer?.follow(state);
			own.follow(state);
			const { phase, since, waitsFor, workers, ...now } = own.now();
			const round = now.round?.synced ?? 0;
			const text = JSON.stringify({ phase, round, workers });
			if (text === told) return;
			told = text;
			onNode({ phase, since, waitsFor, round, workers });
		},
		hung: (kind) => observer?.hung(kind),
	};
}

/** Opens what others can observe this node by, if that is wanted. Each part is loaded only then. */
async function openNodeObserver(
	config: AgentConfig,
	place: LauncherIo,
	probe: ProbePlace | undefined,
	leave: Leave,
	links: () => NodeLinks | null,
): Promise<AgentObserver | undefined> {
	const { http } = config;
	if (probe !== undefined) return observeByProbe(probe, place);
	if (http === undefined) return undefined;
	const { openObserver } = await import("../http/open-observer.js");
	const own = new OwnNode(place.clock);
	const node = () => ({ ...own.now(), links: links() });
	const observer = await openObserver({ ...place, config, http, leave, node });
	return {
		joined: (run, { channels }) => observer.joined(run, channels.directory),
		noting: (logs) => observer.noting(logs),
		follow: (state) => {
			own.follow(state);
			if (state.phase === "CLOSED") observer.close();
		},
		hung: (kind) => observer.hung(kind),
	};
}

async function observeByProbe(
	probe: ProbePlace,
	place: LauncherIo,
): Promise<AgentObserver> {
	let node: ProbedNode | undefined;
	const { openProbe } = await import("../http/open-probe.js");
	await openProbe(probe, place, () => node);
	return {
		joined: () => {},
		noting: (logs) => logs,
		follow: (state) => {
			node = state;
		},
		hung: () => {},
	};
}

/**
 * The report of an agent that has started no worker.
 * @param wallTime milliseconds since 1970
 * @param round the run's round, if it was seen
 */
function reportUnstarted(
	ending: Ending,
	config: AgentConfig,
	wallTime: number,
	round: RoundRecord | null = null,
): RunReport {
	return buildReport({
		config,
		ending,
		round,
		...{ instance: round?.instance ?? 0, wallTime },
		rounds: [],
		workers: [],
		progress: [],
		stuck: [],
		ownBudget: null,
		startsIn: () => undefined,
		wordsOf: () => undefined,
		logDir: null,
	});
}
