import { randomUUID } from "node:crypto";
import { Agent } from "../../src/agent/agent.ts";
import { WorkerGroup } from "../../src/agent/workers/worker-group.ts";
import { systemClock } from "../../src/base/clock.ts";
import { HardRestartPolicyStrategy } from "../../src/policies/hard-restart-policy.ts";
import { Membership } from "../../src/rendezvous/member/membership.ts";
import { InstantWorkers } from "./instant-workers.js";

const WORKERS = 8;
const MAX_RESTARTS = 1_000_000;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * @typedef {object} Surroundings
 * @property {import("../../src/rendezvous/store/store.ts").Store} store
 * @property {string} runId
 * @property {number} size of the run: all of them are needed
 * @property {number} leaseTtlMs
 * @property {(nodeId: string, round: number) => void} onStarted
 * @property {(error: unknown) => void} onError
 */

/** The real agent with its membership; what stands around it is as little as can be. */
export class BareAgent {
	#membership;
	#agent;
	#workers = new InstantWorkers();

	/**
	 * @param {string} nodeId
	 * @param {Surroundings} surroundings
	 */
	constructor(nodeId, surroundings) {
		const { onError, onStarted } = surroundings;
		const incarnation = randomUUID();
		this.#membership = new Membership({
			...membershipOf(nodeId, incarnation, surroundings),
			onView: (view) => this.#agent.see(view),
			onLost: (reason) => onError(new Error(`${nodeId}: ${reason}`)),
			onError,
			onPlanReason() {},
		});
		const group = new WorkerGroup({
			runId: surroundings.runId,
			clock: systemClock,
			spawner: this.#workers,
			prepare: ({ localRank }) => preparedWorker(localRank),
			readOomKills: () => undefined,
			onSpawning() {},
			onChannels() {},
			log: SILENT,
			onStarted: (round) => {
				this.#agent.started(round);
				onStarted(nodeId, round.synced);
			},
			dispatch: (input) => this.#agent.dispatch(input),
		});
		this.#agent = new Agent({
			clock: systemClock,
			log: SILENT,
			settings: {
				runId: surroundings.runId,
				nodeId,
				incarnation,
				policy: new HardRestartPolicyStrategy(),
				maxRestarts: MAX_RESTARTS,
				shutdownTimeoutMs: 30_000,
				pauseTimeoutMs: 60_000,
			},
			membership: this.#membership,
			workers: group,
			onError,
		});
		this.#agent.ended.then(({ reason }) =>
			onError(new Error(`${nodeId} ended: ${reason}`)),
		);
	}

	/** Resolves when it has joined; it then wants to be in the first round. */
	async start() {
		await this.#membership.join();
		this.#membership.start();
	}

	failWorker() {
		this.#workers.fail();
	}
}

/** @param {Surroundings} surroundings */
function membershipOf(nodeId, incarnation, { store, runId, size, leaseTtlMs }) {
	return {
		store,
		clock: systemClock,
		runId,
		identity: {
			nodeId,
			incarnation,
			hostId: `${incarnation} pid:[4026531836]`,
			pid: process.pid,
			startTime: "524643",
			address: "10.0.0.1",
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
		isDead: () => false,
		random: Math.random,
	};
}

function preparedWorker(localRank) {
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
		tell() {},
		ring() {},
		moved() {},
		release() {},
		hear() {},
		readError: () => undefined,
		discard() {},
	};
}
