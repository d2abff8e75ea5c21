import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
	decide,
	TABLE,
	transition,
} from "../../../src/agent/machine/decide.js";
import type {
	AgentInput,
	TransitionContext,
} from "../../../src/agent/machine/inputs.js";
import { learn } from "../../../src/agent/machine/learn.js";
import { intentOf } from "../../../src/agent/machine/record.js";
import {
	type AgentState,
	deadlineOf,
	INITIAL_STATE,
} from "../../../src/agent/machine/state.js";
import {
	HardRestartPolicyStrategy,
	SoftReplaceRestartPolicyStrategy,
	SoftRestartPolicyStrategy,
} from "../../../src/policies/built-in.js";
import type { RestartPolicyStrategy } from "../../../src/policies/strategy.js";
import { Random } from "../../simulation/random.js";
import { ImaginedNode } from "./imagined-node.js";
import { contextAt, TIME } from "./soft-agent.js";

const SEEDS = 300;
const STEPS = 120;

/** Decides now one way, now the other. */
const MIXED: RestartPolicyStrategy = {
	name: "mixed",
	onScaleUp: new SoftRestartPolicyStrategy().onScaleUp,
	onScaleDown: ({ cause, round }) => ({
		...{ workers: round % 2 === 0 ? "pause" : "restart", charge: "nothing" },
		reason: cause,
	}),
	onWorkerFailure: ({ cause, exitCode }) => ({
		...{
			workers: exitCode === 1 ? "replace-failed" : "restart",
			charge: "run",
		},
		reason: cause,
	}),
};

/** What rows of the table have answered, and the phases that they have led to. */
const NOTED = new Map<string, { phases: Set<string>; matters: Set<string> }>();

/** Notes which rows decide on the way to the next state. */
function note(
	state: AgentState,
	input: AgentInput,
	context: TransitionContext,
): void {
	let { facts, matter } = learn(state, input, context);
	for (let isOver = matter === undefined; !isOver; ) {
		const decision = decide(facts, context, matter);
		if (decision === undefined) return;
		const { row } = decision;
		const known = NOTED.get(row) ?? { phases: new Set(), matters: new Set() };
		NOTED.set(row, known);
		known.phases.add(decision.facts.phase);
		known.matters.add(matter?.kind ?? "-");
		facts = decision.facts;
		matter = undefined;
		isOver = decision.rests === true || facts.phase === "CLOSED";
	}
}

/** The rows of the table at the head of decide.ts: name, what it answers, when, the phases that it leads to. */
function writtenRows(): readonly (readonly string[])[] {
	const path = new URL("../../../src/agent/machine/decide.ts", import.meta.url);
	return readFileSync(path, "utf8")
		.split("\n")
		.filter((line) => /^ \* {3}[a-z]\w+ +\|/.test(line))
		.map((line) => line.slice(3).split("|"))
		.map((cells) => cells.map((cell) => cell.trim()))
		.filter(([name]) => name !== "row");
}

/** What a state may not be. */
function problemOf(state: AgentState, node: ImaginedNode): string | undefined {
	const intent = intentOf(state);
	if (intent?.state === "ready" && node.working > 0) {
		return "ready while somebody works";
	}
	const hasEnded = state.phase === "FINISHED" || state.phase === "CLOSED";
	if (hasEnded && node.untold > 0) return "left behind";
	return undefined;
}

function refuse(problem: string | undefined, where: string): void {
	if (problem !== undefined) throw new Error(`${where}: ${problem}`);
}

/** Plays one agent's life; how often its workers were started or told to work. */
function live(policy: RestartPolicyStrategy, seed: number): number {
	const random = new Random(seed);
	const node = new ImaginedNode(random);
	let state: AgentState = INITIAL_STATE;
	let rounds = 0;
	for (let step = 0; step < STEPS && state.phase !== "CLOSED"; step += 1) {
		const input = node.next(state);
		note(state, input, contextAt(node.now, policy));
		let result = transition(state, input, contextAt(node.now, policy));
		for (let again = 0; ; again += 1) {
			const where = `${policy.name}, seed ${seed}, step ${step}, ${input.kind}`;
			state = result.state;
			for (const effect of result.effects) {
				refuse(node.carryOut(effect), where);
				if (effect.kind === "start-workers") rounds += 1;
			}
			refuse(problemOf(state, node), where);
			// The shell's timer: what is due is cleared or moved.
			const deadline = deadlineOf(state) ?? Number.POSITIVE_INFINITY;
			if (deadline > node.now) break;
			if (again > 12) refuse("a deadline that is never over", where);
			note(state, TIME, contextAt(node.now, policy));
			result = transition(state, TIME, contextAt(node.now, policy));
		}
	}
	return rounds;
}

it.each([
	new HardRestartPolicyStrategy(),
	new SoftRestartPolicyStrategy(),
	new SoftReplaceRestartPolicyStrategy(),
	MIXED,
])("under $name, whatever happens: PAUSE and WORK take turns, nobody is signalled who is gone, nobody works who is ready, nobody is left behind, each deadline passes", (policy) => {
	let rounds = 0;
	for (let seed = 1; seed <= SEEDS; seed += 1) rounds += live(policy, seed);
	expect(rounds).toBeGreaterThan(SEEDS / 2);
});

it("the table at the head of decide.ts names each row in order, what it answers, and where it leads", () => {
	const written = writtenRows();
	expect(written.map(([name]) => name)).toEqual(Object.keys(TABLE));
	expect(NOTED.size).toBeGreaterThan(written.length / 2);
	for (const [name = "", answers = "", , phases = ""] of written) {
		const noted = NOTED.get(name);
		const isWrong = (phase: string) =>
			phases !== "any" && !phases.includes(phase);
		expect([name, [...(noted?.phases ?? [])].filter(isWrong)]).toEqual([
			name,
			[],
		]);
		if (noted === undefined || answers === "-") continue;
		expect([name, ...noted.matters]).toEqual([name, answers]);
	}
});
