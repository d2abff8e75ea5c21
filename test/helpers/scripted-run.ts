import { Agent } from "../../src/agent/agent.js";
import type { Ending } from "../../src/agent/machine/state.js";
import { messageOf } from "../../src/base/errors.js";
import type { WorldChangeEvent } from "../../src/channel/events.js";
import { HardRestartPolicyStrategy } from "../../src/policies/built-in.js";
import type { RestartPolicyStrategy } from "../../src/policies/strategy.js";
import { Membership } from "../../src/rendezvous/member/membership.js";
import { HISTORY } from "../../src/rendezvous/records/history-record.js";
import { RunKeys } from "../../src/rendezvous/records/keys.js";
import { decodeRecord } from "../../src/rendezvous/records/record-codec.js";
import {
	BUDGET,
	ROUND,
	type RoundRecord,
	type SeatRecord,
} from "../../src/rendezvous/records/records.js";
import type { RunSpec } from "../../src/rendezvous/records/run-spec.js";
import { MemoryStore } from "../../src/store/memory-store.js";
import type { Store } from "../../src/store/store.js";
import { ScriptedStore } from "./scripted-store.js";
import { settle, VirtualClock } from "./virtual-clock.js";

export interface ScriptedRunOptions {
	readonly minNodes?: number;
	readonly maxNodes?: number;
	readonly maxRestarts?: number;
	readonly policy?: RestartPolicyStrategy;
	readonly settleTimeoutMs?: number;
	readonly joinTimeoutMs?: number;
	readonly lastCallTimeoutMs?: number;
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
			finishedStay: options.policy?.finishedNodes === "stay",
			maxRestarts: options.maxRestarts ?? 3,
			joinTimeoutMs: options.joinTimeoutMs ?? 600_000,
			lastCallTimeoutMs: options.lastCallTimeoutMs ?? 30_000,
			settleTimeoutMs: options.settleTimeoutMs ?? 35_000,
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

	/** A second of the first round. Of how it formed, which forming.test.ts tells, the story keeps only who is in it. */
	async formed(): Promise<void> {
		await this.pass(1_000);
		const end = this.lines.findIndex((line) => line.endsWith("round 1 runs"));
		const told = this.lines.splice(0, end + 1);
		this.lines.unshift(
			...told.filter((line) => line.includes("plans: round 1: ")),
		);
	}

	async agent(
		nodeId: string,
		settings: ScriptedAgentSettings = {},
	): Promise<ScriptedAgent> {
		const agent = new ScriptedAgent(this, nodeId, {
			localWorldSize: 2,
			role: "default",
			incarnation: `${nodeId}-1`,
			holderIsDead: false,
			listens: true,
			...settings,
			policy: this.options.policy ?? new HardRestartPolicyStrategy(),
			maxRestarts: this.spec.maxRestarts,
		});
		await this.act(`${nodeId} starts`, () => agent.join());
		return agent;
	}

	/** Writes down the run's history as the store has it, its times as in the lines before it. */
	async showHistory(): Promise<void> {
		const keys = new RunKeys("scripted");
		const { entries } = await this.store.snapshot([keys.history]);
		const time = (at: number | null) =>
			at === null ? "-" : ((at - this.startedAt) / 1000).toFixed(2);
		for (const entry of entries.values()) {
			const line = decodeRecord(HISTORY, entry);
			const names = (nodeIds: readonly string[]) => nodeIds.join(" ") || "-";
			this.lines.push(
				`history: round ${line.round}, ${line.cause.kind} (${line.cause.reason}), ${line.worldSize} workers`,
				`  members ${names(line.members)}; joined ${names(line.joined)}; left ${names(line.left)}`,
				`  begun ${time(line.begunAt)}, stopped ${time(line.stoppedAt)}, ready ${time(line.readyAt)}, lifted ${time(line.liftedAt)}, started ${time(line.startedAt)}`,
				`  ended ${time(line.endedAt)}: ${line.ending ?? "-"}${line.outcome === null ? "" : ` (${line.outcome})`}`,
			);
		}
	}

	/** Writes down who has paid for what so far. */
	async showCharges(): Promise<void> {
		const keys = new RunKeys("scripted");
		const { entries } = await this.store.snapshot([keys.round, keys.budgets]);
		const paid = [...entries.values()].flatMap((entry) => {
			if (entry.key === keys.round) {
				const { incidents, charged } = decodeRecord(ROUND, entry);
				return [`${incidents} incidents`, `the run ${charged}`];
			}
			const { charged, workers = {} } = decodeRecord(BUDGET, entry);
			const nodeId = entry.key.slice(keys.budgets.length);
			return [
				...(charged === 0 ? [] : [`${nodeId} ${charged}`]),
				...Object.entries(workers).map(
					([rank, spent]) => `local rank ${rank} of ${nodeId} ${spent}`,
				),
			];
		});
		this.lines.push(`charged: ${paid.sort().join(", ")}`);
	}

	get text(): string {
		return `${this.lines.join("\n")}\n`;
	}
}

interface ScriptedAgentSettings {
	readonly localWorldSize?: number;
	/** `default` unless given. */
	readonly role?: string;
	/** Names the process, where a node has more than one. */
	readonly incarnation?: string;
	/** Whether the process that it finds under its node id is seen to be dead. */
	readonly holderIsDead?: boolean;
	/** Whether its workers call the runtime library when they start, or the local ranks of those that do. */
	readonly listens?: boolean | readonly number[];
}

/** One agent of a scripted run, and the hands on its workers. */
export class ScriptedAgent {
	readonly agent: Agent;
	readonly membership: Membership;
	ending: Ending | undefined;
	/** Its way to the store. */
	readonly store: ScriptedStore;
	private readonly localRanks: readonly number[];
	private readonly listening: readonly number[];
	private readonly alive = new Set<number>();
	/** Told to end, and not gone yet. */
	private readonly toldToEnd = new Set<number>();
	/** How many events each worker has been sent. */
	private readonly events = new Map<number, number>();
	private dead = false;
	private readonly holderIsDead: boolean;
	private readonly tell = (line: string) => {
		if (!this.dead) this.run.say(`${this.nodeId}: ${line}`);
	};

	constructor(
		private readonly run: ScriptedRun,
		readonly nodeId: string,
		settings: Required<ScriptedAgentSettings> & {
			policy: RestartPolicyStrategy;
			maxRestarts: number;
		},
	) {
		const { localWorldSize, role, incarnation, holderIsDead, ...rest } =
			settings;
		this.holderIsDead = holderIsDead;
		const { listens, ...policy } = rest;
		this.localRanks = Array.from({ length: localWorldSize }, (_, rank) => rank);
		const everyone = listens === true ? this.localRanks : [];
		this.listening = typeof listens === "boolean" ? everyone : listens;
		this.store = new ScriptedStore(run.store, run.clock);
		const tell = this.tell;
		this.membership = new Membership({
			store: this.store,
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
				role,
			},
			spec: run.spec,
			reservePort: async (claim) => 4000 + claim,
			random: () => 0.5,
			coordinating: {
				onPlanReason: (reason) => tell(`plans: ${reason}`),
				onSkipped: (words) => tell(words),
			},
		});
		this.agent = new Agent({
			clock: run.clock,
			log: { debug: tell, info: tell, warn: tell, error: tell },
			onError: (error) => tell(`error: ${String(error)}`),
			settings: {
				...policy,
				runId: "scripted",
				nodeId,
				incarnation,
				shutdownTimeoutMs: 30_000,
				pauseTimeoutMs: 60_000,
				rules: [],
				isRecreated: false,
			},
			membership: this.membership,
			workers: {
				start: (round, seat, kept) => this.startWorkers(round, seat, kept),
				pause: (localRanks, { change, reason }) => {
					tell(
						`PAUSE to local ranks ${localRanks.join(" ")}: ${change}, ${reason}`,
					);
					for (const localRank of localRanks) this.sent(localRank);
				},
				notice: (localRanks, { source, reason }) =>
					tell(
						`NOTICE to local ranks ${localRanks.join(" ")}: ${source}, ${reason}`,
					),
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

	private follow(): void {
		this.membership.start({
			onView: (view) => this.agent.dispatch({ kind: "round-seen", view }),
			onLost: (reason, fenceAt) =>
				this.agent.dispatch({ kind: "session-lost", reason, fenceAt }),
			onLongerLease: () => {},
			onError: (error) => this.tell(`error: ${String(error)}`),
		});
	}

	/** Goes on by itself where the joining needs time. */
	join(): void {
		const { tell } = this;
		this.membership.join({ isDead: () => this.holderIsDead }).then(
			(joined) => {
				if ("instance" in joined) this.follow();
				else if ("outcome" in joined)
					tell(`ends with the run: ${joined.outcome.reason}`);
			},
			(error) => tell(`cannot join: ${messageOf(error)}`),
		);
	}

	/** The agent's process dies: nothing is written, its lease runs out at once. */
	async vanish(): Promise<void> {
		await this.membership.close();
	}

	/** The agent's process is killed: it does nothing more, and its lease lives on for its time. */
	killed(): void {
		this.dead = true;
		this.store.cut();
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
				signalledByAgent: this.toldToEnd.has(localRank),
				uptimeMs: 1_000,
			},
			exitCode,
			description: `exit code ${exitCode}`,
			hint: undefined,
			error: undefined,
			groupRemains: false,
		});
		this.alive.delete(localRank);
		this.toldToEnd.delete(localRank);
		this.agent.dispatch({ kind: "worker-gone", localRank });
	}

	/** A worker has received the newest event of its channel; all that live, unless one is named. */
	acknowledges(...localRanks: readonly number[]): void {
		for (const localRank of localRanks.length > 0 ? localRanks : this.alive) {
			const event = this.events.get(localRank) ?? 0;
			this.agent.dispatch({ kind: "worker-acknowledged", localRank, event });
		}
	}

	/** A worker waits for a round after this one. */
	waitsForWork(localRank: number, round: number): void {
		this.agent.dispatch({ kind: "worker-waits", localRank, round });
	}

	/** All workers that were told to end do so. */
	obeys(): void {
		for (const localRank of [...this.toldToEnd]) this.exits(localRank, 143);
	}

	private startWorkers(
		round: RoundRecord,
		seat: SeatRecord,
		kept: ReadonlyMap<number, WorldChangeEvent>,
	): void {
		const fresh = this.localRanks.filter((rank) => !kept.has(rank));
		const rankOf = (localRank: number) => seat.firstRank + localRank;
		const world = `of ${round.world?.worldSize}, master ${round.world?.masterAddr}:${round.world?.masterPort}`;
		for (const [localRank, change] of kept) {
			this.tell(
				`WORK to local rank ${localRank}: rank ${rankOf(localRank)} ${world}, ${change}`,
			);
			this.sent(localRank);
		}
		if (fresh.length > 0)
			this.tell(`starts ranks ${fresh.map(rankOf).join(" ")} ${world}`);
		for (const localRank of fresh) {
			this.alive.add(localRank);
			this.events.set(localRank, 1);
			this.agent.dispatch({
				kind: "worker-started",
				localRank,
				pid: 100 + localRank,
			});
			if (this.listening.includes(localRank)) {
				this.agent.dispatch({ kind: "worker-attached", localRank });
			}
		}
	}

	private signal(name: string, localRanks: readonly number[]): void {
		for (const localRank of localRanks) {
			if (this.alive.has(localRank)) this.toldToEnd.add(localRank);
		}
		this.tell(`${name} to local ranks ${localRanks.join(" ")}`);
	}

	private sent(localRank: number): void {
		this.events.set(localRank, (this.events.get(localRank) ?? 0) + 1);
	}
}
