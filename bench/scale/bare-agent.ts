import { randomUUID } from "node:crypto";
import { Agent } from "../../src/agent/agent.js";
import { WorkerGroup } from "../../src/agent/workers/worker-group.js";
import type { WorkerFiles } from "../../src/agent/workers/workplace.js";
import { systemClock } from "../../src/base/clock.js";
import { Links } from "../../src/links/links.js";
import type { LinkedAgent } from "../../src/model/index.js";
import { HardRestartPolicyStrategy } from "../../src/policies/built-in.js";
import {
	Membership,
	type MembershipOptions,
} from "../../src/rendezvous/member/membership.js";
import type { Store } from "../../src/store/store.js";
import { InstantWorkers } from "./instant-workers.js";

const HOST = "127.0.0.1";
const WORKERS = 8;
const MAX_RESTARTS = 1_000_000;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

export interface Surroundings {
	readonly store: Store;
	readonly runId: string;
	/** Of the run: all of them are needed. */
	readonly size: number;
	readonly leaseTtlMs: number;
	/** Whether they have links, and so write their records together. */
	readonly areLinked: boolean;
	/** It knows that this round is left. */
	readonly onTold: (nodeId: string, round: number) => void;
	readonly onStarted: (nodeId: string, round: number) => void;
	readonly onError: (error: unknown) => void;
}

/** The real agent with its membership; what stands around it is as little as can be. */
export class BareAgent {
	private readonly workers = new InstantWorkers();
	private readonly membership: Membership;
	private readonly agent: Agent;

	private constructor(
		private readonly self: LinkedAgent,
		private readonly surroundings: Surroundings,
		private readonly links: Links | undefined,
	) {
		this.membership = new Membership(membershipOf(self, surroundings, links));
		this.agent = this.openAgent();
		void this.agent.ended.then(({ reason }) =>
			this.fail(`it ended: ${reason}`),
		);
	}

	static async open(
		nodeId: string,
		surroundings: Surroundings,
	): Promise<BareAgent> {
		const incarnation = randomUUID();
		if (!surroundings.areLinked) {
			return new BareAgent({ nodeId, incarnation }, surroundings, undefined);
		}
		const links = await Links.open({
			...{ clock: systemClock, random: Math.random, log: SILENT, port: 0 },
			...{ decidedMs: surroundings.leaseTtlMs, onDead: () => {} },
		});
		const self = { nodeId, incarnation, link: links.addressAt(HOST) };
		return new BareAgent(self, surroundings, links);
	}

	/** Resolves when it has joined; it then wants to be in the first round. */
	async start(): Promise<void> {
		const joined = await this.membership.join({ isDead: () => false });
		if (!("instance" in joined)) this.fail("it could not join the run");
		this.membership.start({
			onView: (view) => {
				this.links?.follow(this.self, view.round, view.seat);
				this.agent.dispatch({ kind: "round-seen", view });
				this.surroundings.onTold(this.self.nodeId, view.round.deprecated);
			},
			onLost: (reason) => this.fail(reason),
			onLongerLease: () => {},
			onError: this.surroundings.onError,
		});
	}

	failWorker(): void {
		this.workers.fail();
	}

	private fail(words: string): void {
		this.surroundings.onError(new Error(`${this.self.nodeId}: ${words}`));
	}

	private openAgent(): Agent {
		const { self, membership } = this;
		const { nodeId, incarnation } = self;
		const { runId, onError } = this.surroundings;
		return new Agent({
			clock: systemClock,
			log: SILENT,
			settings: {
				...{ runId, nodeId, incarnation },
				policy: new HardRestartPolicyStrategy(),
				maxRestarts: MAX_RESTARTS,
				rules: [],
				isRecreated: false,
				shutdownTimeoutMs: 30_000,
				pauseTimeoutMs: 60_000,
			},
			membership,
			workers: this.openWorkers(),
			onError,
		});
	}

	private openWorkers(): WorkerGroup {
		const { runId, onStarted } = this.surroundings;
		return new WorkerGroup({
			runId,
			clock: systemClock,
			spawner: this.workers,
			holdsLease: () => this.membership.holdsLease(),
			workplace: {
				prepare: ({ localRank }) => filesOf(localRank),
				listen() {},
				readReplies() {},
				readAllReplies() {},
				discard() {},
			},
			readOomKills: () => undefined,
			onSpawning() {},
			log: SILENT,
			onStarted: ({ synced }) => onStarted(this.self.nodeId, synced),
			dispatch: (input) => this.agent.dispatch(input),
		});
	}
}

function membershipOf(
	self: LinkedAgent,
	{ store, runId, size, leaseTtlMs }: Surroundings,
	links: Links | undefined,
): MembershipOptions {
	return {
		store,
		links: links?.exchange,
		clock: systemClock,
		runId,
		identity: {
			...self,
			hostId: `${self.incarnation} pid:[4026531836]`,
			pid: process.pid,
			startTime: "524643",
			address: HOST,
			localWorldSize: WORKERS,
			role: "default",
		},
		spec: {
			version: 1,
			minNodes: size,
			maxNodes: size,
			policy: "hard",
			finishedStay: false,
			maxRestarts: MAX_RESTARTS,
			joinTimeoutMs: 600_000,
			lastCallTimeoutMs: 30_000,
			settleTimeoutMs: 120_000,
			leaseTtlMs,
		},
		reservePort: async () => 40_123,
		random: Math.random,
		coordinating: { onPlanReason() {}, onSkipped: console.error },
	};
}

function filesOf(localRank: number): WorkerFiles {
	return {
		spec: {
			localRank,
			file: "/train",
			args: [],
			cwd: "/",
			env: {},
			stdout: 1,
			stderr: 2,
		},
		channel: {
			directory: "",
			send() {},
			notify: () => ({ sequence: 0 }),
			ring() {},
		},
		output: undefined,
	};
}
