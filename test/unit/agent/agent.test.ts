import { expect, it } from "vitest";
import { Agent, type AgentOptions, Inbox } from "../../../src/agent/agent.js";
import { deadlineOf } from "../../../src/agent/machine/state.js";
import type { Intent } from "../../../src/rendezvous/records/intent.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";
import { contextAt, exited, greeted, seen } from "./soft-agent.js";

/** An agent whose shell is real, and nothing around it. */
function agentWith(
	onIntent: (intent: Intent | null) => void = () => {},
	more: Partial<AgentOptions> = {},
) {
	const clock = new VirtualClock(1_000);
	const silent = () => {};
	const errors: unknown[] = [];
	let deadline: number | undefined;
	const options: AgentOptions = {
		clock,
		log: { debug: silent, info: silent, warn: silent, error: silent },
		settings: contextAt(),
		membership: { publish: onIntent },
		workers: {
			...{ start: silent, pause: silent, notice: silent },
			...{ terminate: silent, kill: silent },
		},
		onState: (state) => {
			deadline = deadlineOf(state);
		},
		onError: (error) => errors.push(error),
		...more,
	};
	const agent = new Agent(options);
	for (const input of [seen(0), seen(1), greeted(0), greeted(1)]) {
		agent.dispatch(input);
	}
	return { agent, clock, errors, deadline: () => deadline };
}

it("a lease that is found to have ended while a failure is published fences at once", () => {
	const fenceAt = 1_500;
	const { agent, errors, deadline } = agentWith((intent) => {
		if (intent?.failure == null || intent.fencedIn !== undefined) return;
		agent.dispatch({ kind: "session-lost", reason: "no keepalive", fenceAt });
	});
	agent.dispatch(exited(0, 9));
	expect(errors).toEqual([]);
	expect(deadline()).toBe(fenceAt);
});

it("one that was closed takes nothing more and keeps no timer", async () => {
	const intents: (Intent | null)[] = [];
	const { agent, clock } = agentWith((intent) => intents.push(intent));
	const before = intents.length;
	agent.dispatch(seen(1, { deprecated: 1 }));
	agent.close();
	agent.dispatch(exited(0, 9));
	await clock.advance(1_000_000);
	expect(intents).toHaveLength(before + 1);
	expect(clock.nextAlarm).toBeUndefined();
});

it("records a round when its workers have been started, and when it is left", () => {
	const { agent } = agentWith();
	const round = { round: 1, startedAt: expect.any(Number), ending: "running" };
	expect(agent.history.rounds).toMatchObject([round]);
	agent.dispatch(exited(0, 9));
	const [left] = agent.history.rounds;
	expect(left?.ending).toContain("rank 0 failed");
});

it("a failure says how far its worker had come, and the record how far all had", () => {
	const intents: (Intent | null)[] = [];
	const reached = { round: 1, step: 9 };
	const steps = { reached, stepOf: (rank: number) => 7 - rank };
	const { agent } = agentWith((intent) => intents.push(intent), { steps });
	agent.dispatch(exited(1, 9));
	const last = intents.at(-1);
	expect(last?.failure?.failure.step).toBe(6);
	expect(last?.reached).toEqual(reached);
});

it("takes what came before it was there, in its order", () => {
	const inbox = new Inbox();
	for (const input of [seen(0), seen(1)]) inbox.dispatch(input);
	const phases: string[] = [];
	agentWith(undefined, {
		inbox,
		onState: ({ phase }) => phases.push(phase),
	});
	expect(phases.slice(0, 2)).toEqual(["JOINING", "RUNNING"]);
	expect(inbox.isEmpty).toBe(true);
});
