import { randomUUID } from "node:crypto";
import type { Membership } from "../rendezvous/membership.js";
import type { RoundRecord } from "../rendezvous/records.js";
import type { Store } from "../rendezvous/store.js";
import { buildReport } from "./build-report.js";
import type { AgentConfig } from "./configuration/agent-config.js";
import {
	type EnteredRun,
	type EnterRunOptions,
	enterRun,
} from "./enter-run.js";
import type { Leave } from "./http/control.js";
import type { Observer } from "./http/observer.js";
import type { NodePlace } from "./node-resources.js";
import { openStore } from "./open-store.js";
import { Participation, type StopRequest } from "./participation.js";
import { endingOf, leftWith } from "./phases/ending.js";
import { withAdvice } from "./reach-store.js";
import type { RunReport } from "./report/run-report.js";
import { PortReservation } from "./reserve-port.js";
import type { Ending } from "./state.js";
import { testFaultOf, withTestFault } from "./test-fault.js";
import { ToldStore } from "./told-store.js";
import { within } from "./within.js";

/** The longest that an agent which leaves waits for a store that may be out of reach, in milliseconds. */
const LEAVE_WITHIN_MS = 1_500;
const CLOSE_WITHIN_MS = 500;
/** Where workers of several nodes meet, they listen on all addresses of the first one. */
const EVERY_ADDRESS = "::";

/** One node's part in one run, from the first word with the store to the report. */
export class NodeRun {
	private readonly incarnation = randomUUID();
	private readonly ports: PortReservation;
	private readonly opening: Promise<Store>;
	private membership: Membership | undefined;
	private participation: Participation | undefined;
	private observer: Observer | undefined;
	private stopRequest: StopRequest | undefined;
	private leaving: Promise<void> | undefined;
	private tellStopped: () => void = () => {};
	private readonly stopped: Promise<void>;

	constructor(
		private readonly config: AgentConfig,
		private readonly place: NodePlace,
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
		});
		// It is awaited later, or not at all.
		this.opening.catch(() => {});
		this.stopped = new Promise((resolve) => {
			this.tellStopped = resolve;
		});
	}

	/** The agent leaves the run: its workers get SIGTERM and, `immediately`, SIGKILL. */
	askToStop(
		stop: { readonly exitCode: number; readonly reason: string },
		immediately: boolean,
	): void {
		this.stopRequest = { kind: "stop-asked", ...stop, immediately };
		this.participation?.askToStop(this.stopRequest);
		this.tellStopped();
	}

	/** Resolves when the run has ended for this agent and none of its workers is left. */
	async toTheEnd(): Promise<RunReport> {
		try {
			// Who still waits for a store, or for a node id, is not kept waiting when told to stop.
			const entered = await Promise.race([this.enter(), this.stopped]);
			if (entered !== undefined) return await this.takePart(entered);
			const { exitCode = 0, reason = "" } = this.stopRequest ?? {};
			return this.reportUnstarted(leftWith(exitCode, reason), this.config);
		} catch (error) {
			throw withAdvice(error, this.config);
		}
	}

	/** Before anything else: an address that cannot be had is a launch that is refused. */
	private async openObserver(): Promise<Observer | undefined> {
		const { config, place } = this;
		const { http } = config;
		if (http === undefined) return undefined;
		const { openObserver } = await import("./http/open-observer.js");
		const leave: Leave = (stop) => this.askToStop(stop, false);
		return openObserver({ ...place, config, http, leave });
	}

	private async enter(): Promise<EnteredRun> {
		const { config, place } = this;
		const { clock, cleanups, log } = place;
		cleanups.add("freeing the port", () => this.ports.close());
		cleanups.add("closing the store", () => this.closeStore());
		cleanups.add("leaving the run", () => this.leave());
		this.observer = await this.openObserver();
		const fault = testFaultOf(config.environment);
		const store = withTestFault(await this.opening, fault, () =>
			process.kill(process.pid, "SIGKILL"),
		);
		return enterRun({
			config,
			store: new ToldStore(store, clock, log),
			batchSize: fault?.batchSize,
			clock,
			log,
			random: Math.random,
			incarnation: this.incarnation,
			listener: this.listener(),
			onMembership: (membership) => {
				this.membership = membership;
			},
			isAborted: () => this.stopRequest !== undefined,
		});
	}

	private listener(): EnterRunOptions["listener"] {
		return {
			reservePort: () => this.ports.reserve(),
			onView: (view) => this.participation?.see(view),
			onLost: (reason, fenceAt) =>
				this.participation?.loseSession(reason, fenceAt),
			onError: (error) => this.participation?.fail(error),
			onPlanReason: (reason) => this.place.log.debug(reason),
		};
	}

	private takePart(entered: EnteredRun): Promise<RunReport> | RunReport {
		const { config, membership, joined, isReturning, store } = entered;
		if ("outcome" in joined) {
			const { outcome, round } = joined;
			return this.reportUnstarted(endingOf(outcome), config, round);
		}
		this.participation = new Participation({
			config,
			place: this.place,
			membership,
			instance: joined.instance,
			incarnation: this.incarnation,
			ports: this.ports,
			isReturning,
			store,
			observer: this.observer,
			leave: () => this.leave(),
		});
		if (this.stopRequest) this.participation.askToStop(this.stopRequest);
		return this.participation.toTheEnd();
	}

	/** Once: its workers are gone, or it never had any. Where the store does not answer, the lease lapses by itself. */
	private leave(): Promise<void> {
		this.leaving ??= this.leaveRun();
		return this.leaving;
	}

	private async leaveRun(): Promise<void> {
		const { clock, log } = this.place;
		const left = this.membership?.close().then(
			() => true,
			() => false,
		);
		if (left === undefined) return;
		if (await within(clock, LEAVE_WITHIN_MS, left)) return;
		const seconds = this.config.rendezvous.leaseTtlMs / 1000;
		log.warn(
			`the store could not be told that this node leaves: its lease lapses within ${seconds} s`,
		);
	}

	private async closeStore(): Promise<void> {
		// Why it could not be opened has been said.
		const store = await this.opening.catch(() => undefined);
		if (store === undefined) return;
		await within(this.place.clock, CLOSE_WITHIN_MS, store.close());
	}

	/** @param round where the run stood, if that was seen */
	private reportUnstarted(
		ending: Ending,
		config: AgentConfig,
		round: RoundRecord | null = null,
	): RunReport {
		return buildReport({
			config,
			ending,
			round,
			instance: round?.instance ?? 0,
			rounds: [],
			workers: [],
			logDir: null,
		});
	}
}
