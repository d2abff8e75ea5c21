import { describe, expect, it } from "vitest";
import {
	parseAims,
	parseKinds,
} from "../../../src/operate/chaos/parse-chaos.js";
import {
	beginChaos,
	type ChaosPlan,
	type ChaosState,
	isOver,
	planChaos,
	thawAll,
	type Victim,
} from "../../../src/operate/chaos/plan-chaos.js";
import { seededRandom } from "../../../src/operate/seeded-random.js";

const NOTHING: ChaosPlan = {
	...{ aims: [], delayMs: 0, meanMs: null, freezeMs: 1_000 },
	kinds: ["kill-worker"],
};
const worker = (round: number, rank: number): Victim => ({
	...{ nodeId: "node-a", agentPid: 7, pid: 100 * round + rank, round, rank },
});
const never = () => expect.unreachable();

/** Plays a plan against what is there at each time, in milliseconds. */
function play(
	plan: ChaosPlan,
	times: Readonly<Record<number, readonly Victim[]>>,
	random: () => number = () => 0.5,
) {
	let state: ChaosState = beginChaos(plan, 0, random);
	const story: string[] = [];
	for (const [time, victims] of Object.entries(times)) {
		const step = planChaos(plan, state, victims, Number(time), random);
		state = step.state;
		story.push(
			...step.acts.map(
				({ kind, signal, pid }) => `${time} ${kind} ${signal} ${pid}`,
			),
			...step.missed.map(
				({ round, rank }) => `${time} missed ${round}:${rank}`,
			),
		);
	}
	return { story, state };
}

describe("faults at a place", () => {
	const aims = [{ round: 2, rank: 1, kind: "kill-worker" as const }];

	it("happen once, to the worker of this round and rank", () => {
		const { story, state } = play(
			{ ...NOTHING, aims },
			{
				0: [worker(1, 0), worker(1, 1)],
				50: [worker(2, 0), worker(2, 1)],
				100: [worker(2, 0), worker(2, 1)],
			},
		);
		expect(story).toEqual(["50 kill-worker SIGKILL 201"]);
		expect(isOver(state)).toBe(true);
	});

	it("wait for their delay, and miss who is gone by then", () => {
		const later = { ...NOTHING, aims, delayMs: 100 };
		const there = [worker(2, 1)];
		expect(play(later, { 0: there, 50: there, 100: there }).story).toEqual([
			"100 kill-worker SIGKILL 201",
		]);
		expect(play(later, { 0: there, 100: [worker(3, 1)] }).story).toEqual([
			"100 missed 2:1",
		]);
	});

	it("may be for the launcher", () => {
		const agent = [{ round: 1, rank: 0, kind: "kill-agent" as const }];
		expect(
			play({ ...NOTHING, aims: agent }, { 0: [worker(1, 0)] }).story,
		).toEqual(["0 kill-agent SIGKILL 7"]);
	});

	it("go on when they are passing, at the latest at the end", () => {
		const frozen = [{ round: 1, rank: 0, kind: "freeze-worker" as const }];
		const plan = { ...NOTHING, aims: frozen };
		const there = [worker(1, 0)];
		const { story } = play(plan, { 0: there, 999: there, 1000: there });
		expect(story).toEqual([
			"0 freeze-worker SIGSTOP 100",
			"1000 continue SIGCONT 100",
		]);
		const { state } = play(plan, { 0: there });
		expect(isOver(state)).toBe(false);
		expect(thawAll(state)).toMatchObject([{ signal: "SIGCONT", pid: 100 }]);
	});
});

describe("faults by chance", () => {
	const plan: ChaosPlan = { ...NOTHING, meanMs: 1_000 };

	it("come at the mean time, to anybody", () => {
		const random = seededRandom(1);
		let state = beginChaos(plan, 0, random);
		const hits: number[] = [];
		const victims = [worker(1, 0), worker(1, 1)];
		const end = 1_000_000;
		for (let now = 0; now < end; now += 50) {
			const step = planChaos(plan, state, victims, now, random);
			state = step.state;
			hits.push(...step.acts.map(({ pid }) => pid));
		}
		// A thousand are expected; four standard deviations are 126, and each waits for its look.
		expect(hits.length).toBeGreaterThan(850);
		expect(hits.length).toBeLessThan(1_130);
		const first = hits.filter((pid) => pid === 100).length / hits.length;
		expect(first).toBeGreaterThan(0.4);
		expect(first).toBeLessThan(0.6);
	});

	it("stay due while nobody is there", () => {
		const { story } = play(plan, { 0: [], 5000: [], 9000: [worker(1, 0)] });
		expect(story).toEqual(["9000 kill-worker SIGKILL 100"]);
	});

	it("are the same for the same seed", () => {
		const times = {
			0: [],
			2000: [worker(1, 0), worker(1, 1)],
			4000: [worker(2, 0), worker(2, 1)],
		};
		const kinds = ["kill-worker", "stop-worker", "crash-worker"] as const;
		const once = () => play({ ...plan, kinds }, times, seededRandom(7)).story;
		expect(once()).toEqual(once());
		expect(once()).not.toEqual([]);
	});

	it("are none where none are asked for", () => {
		expect(beginChaos(NOTHING, 0, never).nextAt).toBeNull();
	});
});

describe("what is asked for", () => {
	it("is ROUND:RANK[:KIND]", () => {
		expect(parseAims("2:0,3:5:freeze-agent")).toEqual({
			value: [
				{ round: 2, rank: 0, kind: "kill-worker" },
				{ round: 3, rank: 5, kind: "freeze-agent" },
			],
		});
		expect(parseAims("2")).toMatchObject({
			problems: [expect.stringContaining('"2" is not ROUND:RANK')],
		});
		expect(parseAims("2:0:kill-workers")).toMatchObject({
			problems: [expect.stringContaining("did you mean kill-worker?")],
		});
	});

	it("is a list of kinds", () => {
		expect(parseKinds("kill-worker,stop-agent")).toEqual({
			value: ["kill-worker", "stop-agent"],
		});
		expect(parseKinds("kill-worker,burn")).toMatchObject({
			problems: [expect.stringContaining('"burn" is no kind of fault')],
		});
	});
});
