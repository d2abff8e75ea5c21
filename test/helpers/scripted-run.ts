import { Agent } from "../../src/agent/agent.js";
import type { Ending } from "../../src/agent/state.js";
import { HardRestartPolicyStrategy } from "../../src/policies/hard-restart-policy.js";
import type { RestartPolicyStrategy } from "../../src/policies/strategy.js";
import { Membership } from "../../src/rendezvous/membership.js";
import { MemoryStore } from "../../src/rendezvous/memory-store.js";
import type {
	RoundRecord,
	RunSpec,
	SeatRecord,
} from "../../src/rendezvous/records.js";
import type { Store } from "../../src/rendezvous/store.js";
import { settle, VirtualClock } from "./virtual-clock.js";

export interface ScriptedRunOptions {
	readonly minNodes?: number;
	readonly maxNodes?: number;
	readonly maxRestarts?: number;
	readonly policy?: RestartPolicyStrategy;
}

/**
 * A run of several agents in one process: the real agent, membership and
 * coordinator on a memory store and a virtual clock, with workers that do only
 * what the script tells them. All that happens is written down in `lines`.
 */
export class ScriptedRun {
	readonly clock = new VirtualClock();
	readonly store: Store = new MemoryStore();
	readonly lines: string[] = [];
	private readonly startedAt = this.clock.now();
	readonly spec: RunSpec;

	constructor(private readonly options: ScriptedRunOptions = {}) {
		this.spec = {
			version: 1,
			minNodes: options.minNodes ?? 1,
			maxNodes: options.maxNodes ?? 1,
			policy: options.policy?.name ?? "hard",
			maxRestarts: options.maxRestarts ?? 3,
			joinTimeoutMs: 600_000,
			lastCallTimeoutMs: 30_000,
			settleTimeoutMs: 35_000,
			leaseTtlMs: 5_000,
		};
	}

	say(line: string): void {
		const seconds = ((this.clock.now() - this.startedAt) / 1000).toFixed(2);
		this.lines.push(`${seconds.padStart(7)} ${line}`);
	}

	/** What the reader is told that the script does. */
	async act(what: string, action: () => void | Promise<void>): Promise<void> {
		this.say(`# ${what}`);
		await action();
		await settle();
	}

	async pass(durationMs: number): Promise<void> {
		await this.clock.advance(durationMs);
	}

	async agent(nodeId: string, localWorldSize = 2): Promise<ScriptedAgent> {
		const agent = new ScriptedAgent(this, nodeId, localWorldSize, {
			policy: this.options.policy ?? new HardRestartPolicyStrategy(),
			maxRestarts: this.spec.maxRestarts,
		});
		await this.act(`${nodeId} starts`, () => agent.join());
		return agent;
	}

	get text(): string {
		return `${this.lines.join("\n")}\n`;
	}
}

/** One agent of a scripted run, and the hands on its workers. */
export class ScriptedAgent {
	readonly agent: Agent;
	readonly membership: Membership;
	ending: Ending | undefined;
	private readonly localRanks: readonly number[];
	private readonly alive = new Set<number>();
	private signalled = false;

	constructor(
		private readonly run: ScriptedRun,
		readonly nodeId: string,
		localWorldSize: number,
		settings: { policy: RestartPolicyStrategy; maxRestarts: number },
	) {
		this.localRanks = Array.from({ length: localWorldSize }, (_, rank) => rank);
		const incarnation = `${nodeId}-1`;
		const tell = (line: string) => run.say(`${nodeId}: ${line}`);
		this.membership = new Membership({
			store: run.store,
			clock: run.clock,
			runId: "scripted",
			identity: {
				nodeId,
				incarnation,
				hostId: "host",
				pid: 1,
				startTime: "1",
				address: `${nodeId}.example`,
				localWorldSize,
				role: "default",
			},
			spec: run.spec,
			reservePort: async (claim) => 4000 + claim,
			isDead: () => false,
			random: () => 0.5,
			onView: (view) => this.agent.see(view),
			onLost: (reason, fenceAt) =>
				this.agent.dispatch({ kind: "session-lost", reason, fenceAt }),
			onError: (error) => tell(`error: ${String(error)}`),
			onPlanReason: (reason) => tell(`plans: ${reason}`),
		});
		this.agent = new Agent({
			clock: run.clock,
			log: { debug: tell, info: tell, warn: tell, error: tell },
			onError: (error) => tell(`error: ${String(error)}`),
			settings: {
				...settings,
				runId: "scripted",
				nodeId,
				incarnation,
				shutdownTimeoutMs: 30_000,
			},
			membership: this.membership,
			workers: {
				start: (round, seat) => this.startWorkers(round, seat),
				terminate: (localRanks) => this.signal("SIGTERM", localRanks),
				kill: (localRanks) => this.signal("SIGKILL", localRanks),
			},
		});
		void this.agent.ended.then((ending) => {
			this.ending = ending;
			tell(`ends with exit code ${ending.exitCode}: ${ending.reason}`);
			return this.membership.close();
		});
	}

	async join(): Promise<void> {
		await this.membership.join();
		this.membership.start();
	}

	/** The agent's process dies: nothing is written, its lease runs out at once. */
	async vanish(): Promise<void> {
		await this.membership.close();
	}

	askToStop(immediately = false): void {
		this.agent.dispatch({
			kind: "stop-asked",
			exitCode: 143,
			reason: "SIGTERM",
			immediately,
		});
	}

	/** A worker's leader ends, and all of its group with it. */
	exits(localRank: number, exitCode: number): void {
		this.agent.dispatch({
			kind: "worker-exited",
			localRank,
			pid: 100 + localRank,
			exit: {
				code: exitCode,
				signal: null,
				sentByUs: this.signalled,
				uptimeMs: 1_000,
			},
			exitCode,
			description: `exit code ${exitCode}`,
			hint: undefined,
			error: undefined,
			groupRemains: false,
		});
		this.alive.delete(localRank);
		this.agent.dispatch({ kind: "worker-gone", localRank });
	}

	/** All workers that still live end as they were told. */
	obeys(): void {
		for (const localRank of [...this.alive]) this.exits(localRank, 143);
	}

	private startWorkers(round: RoundRecord, seat: SeatRecord): void {
		this.signalled = false;
		for (const localRank of this.localRanks) this.alive.add(localRank);
		const ranks = this.localRanks.map((rank) => seat.firstRank + rank);
		this.run.say(
			`${this.nodeId}: starts ranks ${ranks.join(" ")} of ${round.world?.worldSize}, master ${round.world?.masterAddr}:${round.world?.masterPort}`,
		);
		for (const localRank of this.localRanks) {
			this.agent.dispatch({
				kind: "worker-started",
				localRank,
				pid: 100 + localRank,
			});
		}
		this.agent.started(round);
	}

	private signal(name: string, localRanks: readonly number[]): void {
		this.signalled = true;
		this.run.say(
			`${this.nodeId}: ${name} to local ranks ${localRanks.join(" ")}`,
		);
	}
}
