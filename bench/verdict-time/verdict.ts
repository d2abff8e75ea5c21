import { performance } from "node:perf_hooks";
import { transition } from "../../src/agent/machine/decide.js";
import type {
	AgentInput,
	TransitionContext,
} from "../../src/agent/machine/inputs.js";
import { INITIAL_STATE, type Running } from "../../src/agent/machine/state.js";
import { parseRules } from "../../src/config/parse/rules.js";
import { HardRestartPolicyStrategy } from "../../src/policies/hard-restart-policy.js";
import type { Rule } from "../../src/policies/rules/rule.js";
import { EMPTY_MEMORY } from "../../src/rendezvous/planner/plan.js";
import { planRound } from "../../src/rendezvous/planner/plan-round.js";
import type {
	NodeFailure,
	NodeRecord,
	RoundRecord,
	Seat,
	SeatRecord,
} from "../../src/rendezvous/records/records.js";
import { runSpec } from "../../test/helpers/run-settings.js";
import {
	nodeRecord,
	roundRecord,
	runView,
	seatRecord,
	WORLD,
} from "../../test/helpers/run-view.js";
import { workerSlot } from "../../test/helpers/worker-slots.js";

/** What failed last does so in node-0. */
const FAILING = "node-0";
const DAY_MS = 86_400_000;

interface Round {
	readonly round: RoundRecord;
	readonly seats: Readonly<Record<string, Seat>>;
}

/** A run of many nodes, one of which fails in every round and is charged to each kind of budget. */
export class FailingRun {
	private readonly nodes: readonly string[];
	private readonly rules: readonly Rule[];
	private readonly config;
	private last: Round;

	/** @param rules so many are asked; only the last one matches */
	constructor(rules: number, nodes: number) {
		this.nodes = Array.from({ length: nodes }, (_, index) => `node-${index}`);
		this.rules = rulesOf(rules);
		this.config = runSpec({
			...{ minNodes: nodes, maxNodes: nodes },
			...{ maxRestarts: 10_000, restartWindowMs: DAY_MS },
			...{ maxNodeRestarts: 10_000, nodeWindowMs: DAY_MS },
			...{ maxRoleRestarts: 10_000, roleWindowMs: DAY_MS },
		});
		const seats = this.nodes.map((nodeId, groupRank) => [
			nodeId,
			seatRecord(nodeId, { groupRank, firstRank: 2 * groupRank }),
		]);
		const round = { synced: 1, planId: "plan-1", seats: nodes, world: WORLD };
		this.last = { round: roundRecord(round), seats: Object.fromEntries(seats) };
	}

	/** Milliseconds from a failure to what follows from it: the agent's part, and both of the coordinator's. */
	fail(): number {
		const { round } = this.last;
		const next = round.synced + 1;
		const start = performance.now();
		const failure = this.notice();
		const left = this.plan(round, [
			nodeRecord(FAILING, { state: "stopping", claim: next, failure }),
			...this.others({ state: "running", claim: round.synced }),
		]);
		const lifted = this.plan(left.round, [
			nodeRecord(FAILING, { claim: next, failure }),
			...this.others({ claim: next }),
		]);
		const took = performance.now() - start;
		if (lifted.round.charged !== round.charged + 1) {
			throw new Error(`charged ${lifted.round.charged} in round ${next}`);
		}
		this.last = lifted;
		return took;
	}

	private notice(): NodeFailure {
		const { round, seats } = this.last;
		const seat = seats[FAILING] as SeatRecord;
		const running: Running = {
			...INITIAL_STATE,
			...{ phase: "RUNNING", instance: 1, round: round.synced, seat },
			...{ failure: null, failuresReported: round.synced },
			view: { round, seat },
			workers: [workerSlot(0), workerSlot(1)],
		};
		const { failure } = transition(running, EXIT, {
			...CONTEXT,
			rules: this.rules,
		}).state;
		if (failure === null) throw new Error("the failure was not noticed");
		return failure;
	}

	private others(change: Partial<NodeRecord>): readonly NodeRecord[] {
		return this.nodes.slice(1).map((nodeId) => nodeRecord(nodeId, change));
	}

	private plan(round: RoundRecord, nodes: readonly NodeRecord[]): Round {
		const { seats } = this.last;
		const time = { now: 0, wallTime: 1_000 * round.synced };
		const planId = `plan-${round.synced + 1}`;
		const view = runView(round, nodes, { seats });
		const { plan, reason } = planRound(
			...([view, EMPTY_MEMORY, this.config, planId, time] as const),
		);
		if (plan?.kind === "update") return { round: plan.round, seats };
		if (plan?.kind !== "lift") throw new Error(`no round follows: ${reason}`);
		return { round: plan.round, seats: Object.fromEntries(plan.seats) };
	}
}

const CONTEXT: TransitionContext = {
	...{ now: 1_000, wallTime: 5, runId: "r", incarnation: `${FAILING}-1` },
	...{ nodeId: FAILING, policy: new HardRestartPolicyStrategy(), rules: [] },
	...{ maxRestarts: 10_000, isRecreated: false, role: "default" },
	...{ shutdownTimeoutMs: 30_000, pauseTimeoutMs: 60_000 },
};

const EXIT: AgentInput = {
	...{ kind: "worker-exited", localRank: 0, pid: 100, exitCode: 1 },
	exit: { code: 1, signal: null, signalledByAgent: false, uptimeMs: 90_000 },
	...{ description: "exit code 1", hint: undefined, error: undefined },
	lastLines: `${"  File train.py, line 41, in load\n".repeat(60)}ValueError: bad batch 7`,
	groupRemains: false,
};

/** All look at the worker's last lines. */
function rulesOf(count: number): readonly Rule[] {
	const texts = Array.from({ length: count }, (_, index) =>
		index === count - 1
			? "error=/bad batch \\d+/i,role=default,uptime>1m => restart"
			: `error=/no such error ${index}: (a|b)+c/i,exit=1-99 => fail-run`,
	);
	const parsed = parseRules(texts.join("\n"));
	if ("problems" in parsed) throw new Error(parsed.problems.join("; "));
	return parsed.value;
}
