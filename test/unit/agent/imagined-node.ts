import type {
	AgentEffect,
	AgentInput,
} from "../../../src/agent/machine/inputs.js";
import { intentOf } from "../../../src/agent/machine/record.js";
import type { AgentState } from "../../../src/agent/machine/state.js";
import type {
	Outcome,
	RoundCause,
} from "../../../src/rendezvous/records/records.js";
import type { Random } from "../../simulation/random.js";
import { exited, JOINED, LEFT, seen } from "./soft-agent.js";

const WORKERS = 3;
const FAILED: RoundCause = { ...LEFT, kind: "failure", reason: "c failed" };

const OUTCOME = {
	result: "failed",
	exitCode: 3,
	reason: "fewer than MIN",
	root: null,
} as const;
const REFUSED = {
	version: 1,
	incarnation: "a-1",
	refused: "a has used up its budget",
} as const;

interface Process {
	/** `exited`: others of its group live on. */
	status: "running" | "exited" | "gone";
	/** Events in its channel. */
	events: number;
	paused: boolean;
	/** It has been told to end. */
	told: boolean;
	/** It will say HELLO before long. */
	shy: boolean;
}

/** What happens around one agent, by chance: its workers, and the round. */
export class ImaginedNode {
	now = 1_000;
	private readonly workers: Process[] = [];
	private synced = 0;
	private deprecated = 0;
	private cause = LEFT;
	private hasSeat = false;
	private isRefused = false;
	private outcome: Outcome | null = null;

	constructor(private readonly random: Random) {}

	/** One of the things that can happen now. */
	next(state: AgentState): AgentInput {
		this.now += this.random.pick([0, 0, 1, 500, 5_000, 5_000, 61_000]);
		const shy = this.workers.findIndex((worker) => worker.shy);
		if (shy >= 0 && this.random.chance(0.7)) return this.greet(shy);
		const isEnding = this.workers.some(({ told }) => told);
		const choices: (() => AgentInput)[] = [
			() => ({ kind: "time-passed" }),
			() => this.changeRound(state),
			() => this.changeRound(state),
			() => this.endSomebody(),
			() => (isEnding ? this.endSomebody() : this.speak()),
			() => (isEnding ? this.endSomebody() : this.speak()),
			() => this.speak(),
			() => this.interfere(),
			() => this.notice(),
		];
		return this.random.pick(choices)?.() ?? { kind: "time-passed" };
	}

	/** Lets happen what the agent does; what it may not do is told. */
	carryOut(effect: AgentEffect): string | undefined {
		switch (effect.kind) {
			case "start-workers":
				return this.start(effect.kept);
			case "pause":
				return this.forEach(effect.localRanks, (worker) => {
					if (worker.status !== "running") return "PAUSE to one that has ended";
					if (worker.paused) return "PAUSE after PAUSE";
					worker.events += 1;
					worker.paused = true;
					return undefined;
				});
			case "terminate":
			case "kill":
				return this.forEach(effect.localRanks, (worker) => {
					worker.told = true;
					return worker.status === "gone" ? "a signal to nobody" : undefined;
				});
			case "warn":
			case "tell-notice":
				return undefined;
			default:
				return effect satisfies never;
		}
	}

	/** How many processes there are that have not been paused. */
	get working(): number {
		return this.workers.filter(
			({ status, paused }) => status !== "gone" && !paused,
		).length;
	}

	/** How many processes there are that have not been told to end. */
	get untold(): number {
		return this.workers.filter(({ status, told }) => status !== "gone" && !told)
			.length;
	}

	private start(kept: ReadonlyMap<number, unknown>): string | undefined {
		for (let localRank = 0; localRank < WORKERS; localRank += 1) {
			const worker = this.workers[localRank];
			const lives = worker !== undefined && worker.status !== "gone";
			if (lives !== kept.has(localRank)) {
				return lives ? "a second process in a place" : "WORK to nobody";
			}
			if (lives && !worker.paused) return "WORK without PAUSE";
			if (lives && worker.told) return "WORK after SIGTERM";
			if (lives)
				Object.assign(worker, { events: worker.events + 1, paused: false });
			else
				this.workers[localRank] = {
					status: "running",
					events: 1,
					paused: false,
					told: false,
					shy: this.random.chance(0.9),
				};
		}
		return undefined;
	}

	private forEach(
		localRanks: readonly number[],
		check: (worker: Process) => string | undefined,
	): string | undefined {
		for (const localRank of localRanks) {
			const worker = this.workers[localRank];
			const problem = worker === undefined ? "nobody is there" : check(worker);
			if (problem !== undefined) return problem;
		}
		return undefined;
	}

	/** The coordinator lifts a round only where this agent is ready for it, or without it. */
	private changeRound(state: AgentState): AgentInput {
		if (this.synced > this.deprecated) {
			this.deprecated = this.synced;
			this.cause = this.random.pick([LEFT, JOINED, FAILED]);
		} else {
			const intent = intentOf(state);
			this.synced += 1;
			this.hasSeat =
				intent?.state === "ready" &&
				intent.claim === this.synced &&
				this.random.chance(0.9);
		}
		if (this.random.chance(0.04)) this.outcome = OUTCOME;
		if (this.random.chance(0.02)) this.isRefused = true;
		return this.look();
	}

	private look(): AgentInput {
		const round = {
			deprecated: this.deprecated,
			cause: this.cause,
			outcome: this.outcome,
		};
		const input = seen(this.synced, round, WORKERS);
		const seat = this.hasSeat ? input.view.seat : null;
		const view = { ...input.view, seat: this.isRefused ? REFUSED : seat };
		return { ...input, view };
	}

	private endSomebody(): AgentInput {
		const localRank = this.random.integer(0, WORKERS - 1);
		const worker = this.workers[localRank];
		if (worker === undefined || worker.status === "gone") return this.look();
		if (worker.status === "exited") {
			worker.status = "gone";
			return { kind: "worker-gone", localRank };
		}
		worker.status = "exited";
		return exited(
			localRank,
			this.random.pick([0, 0, 1, 134, 143]),
			this.random.chance(0.5),
		);
	}

	private greet(localRank: number): AgentInput {
		const worker = this.workers[localRank];
		if (worker !== undefined) worker.shy = false;
		return { kind: "worker-attached", localRank };
	}

	private speak(): AgentInput {
		const localRank = this.random.integer(0, WORKERS - 1);
		const events = this.workers[localRank]?.events;
		if (events === undefined) return this.look();
		return this.random.pick<AgentInput>([
			{
				kind: "worker-acknowledged",
				localRank,
				event: this.random.integer(1, events),
			},
			{ kind: "worker-acknowledged", localRank, event: events },
			{ kind: "worker-waits", localRank, round: this.synced },
			{ kind: "worker-waits", localRank, round: null },
			{ kind: "worker-noticed", localRank },
			{ kind: "worker-ready", localRank },
		]);
	}

	/** The machine will go, at some time, or stays after all. */
	private notice(): AgentInput {
		const source = this.random.pick(["aws", "command", "lifetime"] as const);
		const reason = "spot interruption";
		if (this.random.chance(0.4)) {
			return { kind: "notice-withdrawn", source, reason };
		}
		// The wall time of these contexts is 5.
		const inMs = this.random.pick([-1, 0, 900, 20_000, 200_000, 4e6, null]);
		const deadline = inMs === null ? undefined : 5 + inMs;
		return { kind: "noticed", notice: { source, reason, deadline } };
	}

	private interfere(): AgentInput {
		const localRank = this.random.integer(0, WORKERS - 1);
		const problem = "the disk is full";
		const fenceAt = this.now + 300;
		const lost: AgentInput = { kind: "session-lost", reason: "lost", fenceAt };
		const reason = "SIGTERM";
		const immediately = this.random.chance(0.5);
		const stop = {
			kind: "stop-asked",
			exitCode: 143,
			reason,
			immediately,
		} as const;
		const told = this.workers[localRank];
		if (this.random.chance(0.6) || told === undefined) return lost;
		return this.random.chance(0.6)
			? { kind: "worker-not-told", localRank, problem }
			: stop;
	}
}
