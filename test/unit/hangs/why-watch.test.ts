import { expect, it } from "vitest";
import { WhyWatch } from "../../../src/hangs/why-watch.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type { Entry, Snapshot } from "../../../src/store/store.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const KEYS = new RunKeys("r");

const question = (id: string): Entry => ({
	...{ key: `${KEYS.asked}${id}`, value: '{"version":1,"at":0}' },
	...{ createRevision: 1, modRevision: 1, lease: null },
});

const snapshotOf = (...questions: readonly Entry[]): Snapshot => ({
	revision: 1,
	entries: new Map(questions.map((one) => [one.key, one])),
});

/** A watch of an agent without workers, whose store answers so. */
function openWatch(snapshot: (now: number) => Snapshot) {
	const clock = new VirtualClock();
	const watched: string[] = [];
	const answers: (readonly string[])[] = [];
	let tell = () => {};
	const watch = new WhyWatch({
		...{ clock, asked: KEYS.asked, nodeId: "a", cwd: "/" },
		...{ log: { info: () => {}, warn: () => {} }, logDirectory: "/nosuch" },
		store: {
			snapshot: async () => snapshot(clock.now()),
			watch: (selectors, _revision, onChange) => {
				watched.push(...selectors);
				tell = onChange;
				return { close: () => {} };
			},
		},
		answers: { publish: async ({ asked = [] }) => void answers.push(asked) },
		round: () => ({ instance: 1, round: 1 }),
		processes: () => [],
		progress: () => [],
	});
	return { clock, watch, watched, answers, tell: () => tell() };
}

function unreachable(): never {
	throw new Error("no answer");
}

it("listens for questions even if the store does not answer at first", async () => {
	let answers = false;
	const { clock, watch, watched } = openWatch(() =>
		answers ? snapshotOf() : unreachable(),
	);
	await clock.advance(3_000);
	expect(watched).toEqual([]);
	answers = true;
	await clock.advance(3_000);
	expect(watched).toEqual([KEYS.asked]);
	watch.close();
	expect(clock.nextAlarm).toBeUndefined();
});

it("answers a question whose sender has another clock, once, and no longer than somebody waits", async () => {
	const questions = [question("one")];
	const { clock, watch, answers, tell } = openWatch(() =>
		snapshotOf(...questions),
	);
	await clock.advance(5_000);
	expect(answers).toEqual([["one"]]);
	await clock.advance(10_000);
	questions.push(question("two"));
	tell();
	await clock.advance(1_000);
	expect(answers).toEqual([["one"], ["two"]]);
	watch.close();
});

it("hears a question even if the store does not answer when it comes", async () => {
	let asked: number | undefined;
	const { clock, watch, answers, tell } = openWatch((now) => {
		if (asked === undefined) return snapshotOf();
		return now < asked + 2_000 ? unreachable() : snapshotOf(question("one"));
	});
	await clock.advance(5_000);
	asked = clock.now();
	tell();
	await clock.advance(5_000);
	expect(answers).toEqual([["one"]]);
	watch.close();
});
