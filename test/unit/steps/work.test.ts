import { describe, expect, it } from "vitest";
import type { Furthest, StageTime } from "../../../src/model/step.js";
import {
	announcedBy,
	beginWork,
	furthestOf,
	insertNews,
	noteAnnouncement,
	noteWorkerStep,
	type Work,
	type WorkerStep,
	workUntil,
} from "../../../src/steps/work.js";

type Event = (work: Work) => Work;

const step =
	(at: number, number: number, change: Partial<WorkerStep> = {}): Event =>
	(work) =>
		noteWorkerStep(work, {
			...{ worker: "w", step: number, source: "report", isKept: false, at },
			...change,
		});

const busy =
	(at: number, what: string | null, forMs = 60_000, worker = "w"): Event =>
	(work) => {
		const kind = what === null ? null : announcedBy(what);
		return noteAnnouncement(work, worker, kind, { at, forMs });
	};

const until =
	(at: number): Event =>
	(work) =>
		workUntil(work, at);

function workAfter(before: Furthest | null, ...events: readonly Event[]): Work {
	return events.reduce((work, event) => event(work), beginWork(0, before));
}

/** "ms/saving/loading" of each stage that has any. */
function stagesOf({ stages }: Work): Readonly<Record<string, string>> {
	const shown = ({ ms, savingMs, loadingMs }: StageTime) =>
		[ms, savingMs, loadingMs].join("/");
	const all = Object.entries(stages).map(
		([name, time]) => [name, shown(time)] as const,
	);
	return Object.fromEntries(all.filter(([, text]) => text !== "0/0/0"));
}

const F10: Furthest = { step: 10, source: "report" };
const OVER: Furthest = { ...F10, startsOver: true };
const HOOK = { source: "hook" } as const;

describe("the work of a round", () => {
	it.each<[string, Furthest | null, readonly Event[], object]>([
		[
			"is new in a first round",
			null,
			[step(10, 1), step(30, 2)],
			{ start: "10/0/0", fresh: "20/0/0" },
		],
		[
			"is divided where fast steps show only some of their numbers",
			F10,
			[step(10, 6), busy(20, "save"), step(70, 16)],
			{ start: "10/0/0", again: "4/0/0", fresh: "56/50/0" },
		],
		[
			"is made again up to the furthest step of earlier rounds",
			F10,
			[step(10, 9), step(30, 10), step(60, 11)],
			{ start: "10/0/0", again: "20/0/0", fresh: "30/0/0" },
		],
		[
			"cannot be compared if a new process counts from 0",
			{ step: 10, source: "hook" },
			[step(10, 1, HOOK), step(30, 2, HOOK)],
			{ start: "10/0/0", unsure: "20/0/0" },
		],
		[
			"cannot be compared with the numbers of another source",
			{ step: 10, source: "output" },
			[step(10, 1), step(30, 2)],
			{ start: "10/0/0", unsure: "20/0/0" },
		],
		[
			"cannot be compared once numbers went back within a round",
			OVER,
			[step(10, 1), step(30, 2)],
			{ start: "10/0/0", unsure: "20/0/0" },
		],
		[
			"has what was announced in its stage",
			null,
			[
				...[busy(2, "load"), step(10, 1), busy(12, "checkpoint")],
				...[busy(17, null), step(20, 2)],
			],
			{ start: "10/0/8", fresh: "10/5/0" },
		],
		[
			"ends an announcement with the step",
			null,
			[step(10, 1), busy(10, "saving"), step(15, 2), step(20, 3)],
			{ start: "10/0/0", fresh: "10/5/0" },
		],
		[
			"counts two that save at the same time once, and no other kinds",
			null,
			[
				...[step(10, 1), busy(10, "save"), busy(12, "save", 60_000, "v")],
				...[busy(14, null), busy(16, null, 0, "v"), busy(17, "evaluation")],
				until(20),
			],
			{ start: "10/0/0", open: "0/6/0" },
		],
	])("%s", (_, before, events, stages) => {
		expect(stagesOf(workAfter(before, ...events))).toEqual(stages);
	});

	it("knows the first step, the first new one, and how far it came", () => {
		const work = workAfter(F10, step(10, 9), step(20, 10), step(30, 11));
		expect(work.steps).toEqual({
			...{ first: 9, firstAt: 10, newAt: 30 },
			furthest: { step: 11, source: "report" },
		});
		expect(furthestOf(work)).toEqual({ step: 11, source: "report" });
		expect(furthestOf(workAfter(F10, step(10, 3)))).toEqual(F10);
		expect(furthestOf(workAfter(F10))).toEqual(F10);
	});

	it("notices a program that counts each epoch from 0", () => {
		const work = workAfter(null, step(10, 9), step(20, 1));
		expect(furthestOf(work)).toEqual({
			...{ step: 9, source: "report", startsOver: true },
		});
	});

	it("counts saves, not the workers that save together", () => {
		const work = workAfter(
			null,
			...[busy(1, "save"), busy(2, "save", 9, "v"), step(3, 1)],
			...[step(4, 1, { worker: "v" }), busy(5, "save")],
		);
		expect(work.saves).toBe(2);
	});

	it("takes late news in the order of their times", () => {
		const apply = (work: Work) => work;
		const times = [3, 1, 2, 2].reduce(
			(waiting, at) => insertNews(waiting, { at, apply }),
			[] as ReturnType<typeof insertNews>,
		);
		expect(times.map(({ at }) => at)).toEqual([1, 2, 2, 3]);
	});
});
