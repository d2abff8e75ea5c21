import { expect, it } from "vitest";
import { WhyWatch } from "../../../src/agent/steps/why-watch.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

it("listens for questions even if the store does not answer at first", async () => {
	const clock = new VirtualClock();
	let answers = false;
	const watched: string[] = [];
	const watch = new WhyWatch({
		...{ clock, keys: new RunKeys("r"), nodeId: "a", cwd: "/" },
		store: {
			snapshot: async () => {
				if (!answers) throw new Error("no answer");
				return { revision: 1, entries: new Map() };
			},
			watch: (selectors) => {
				watched.push(...selectors);
				return { close: () => {} };
			},
		},
		write: async () => {},
		round: () => ({ instance: 1, round: 1 }),
		processes: () => [],
		progress: () => [],
	});
	await clock.advance(3_000);
	expect(watched).toEqual([]);
	answers = true;
	await clock.advance(3_000);
	expect(watched).toEqual([new RunKeys("r").asked]);
	watch.close();
	expect(clock.nextAlarm).toBeUndefined();
});

it("answers a question whose sender has another clock, once, and no longer than somebody waits", async () => {
	const clock = new VirtualClock();
	const keys = new RunKeys("r");
	const question = (id: string) => ({
		...{ key: `${keys.asked}${id}`, value: '{"version":1,"at":0}' },
		...{ createRevision: 1, modRevision: 1, lease: null },
	});
	const entries = new Map([[question("one").key, question("one")]]);
	let tell = () => {};
	const answers: string[] = [];
	const watch = new WhyWatch({
		...{ clock, keys, nodeId: "a", cwd: "/" },
		store: {
			snapshot: async () => ({ revision: 1, entries }),
			watch: (_selectors, _revision, onChange) => {
				tell = onChange;
				return { close: () => {} };
			},
		},
		write: async (_key, value) => void answers.push(value),
		round: () => ({ instance: 1, round: 1 }),
		processes: () => [],
		progress: () => [],
	});
	await clock.advance(5_000);
	expect(answers.map((one) => JSON.parse(one).asked)).toEqual([["one"]]);
	await clock.advance(10_000);
	entries.set(question("two").key, question("two"));
	tell();
	await clock.advance(1_000);
	expect(JSON.parse(answers.at(-1) ?? "").asked).toEqual(["two"]);
	expect(answers).toHaveLength(2);
	watch.close();
});

it("hears a question even if the store does not answer when it comes", async () => {
	const clock = new VirtualClock();
	const keys = new RunKeys("r");
	const key = `${keys.asked}one`;
	let tell = () => {};
	let asked: number | undefined;
	const answers: string[] = [];
	const watch = new WhyWatch({
		...{ clock, keys, nodeId: "a", cwd: "/" },
		store: {
			snapshot: async () => {
				if (asked === undefined) return { revision: 1, entries: new Map() };
				if (clock.now() < asked + 2_000) throw new Error("no answer");
				const about = { createRevision: 2, modRevision: 2, lease: null };
				const entry = { key, value: '{"version":1,"at":0}', ...about };
				return { revision: 2, entries: new Map([[key, entry]]) };
			},
			watch: (_selectors, _revision, onChange) => {
				tell = onChange;
				return { close: () => {} };
			},
		},
		write: async (_key, value) => void answers.push(value),
		round: () => ({ instance: 1, round: 1 }),
		processes: () => [],
		progress: () => [],
	});
	await clock.advance(5_000);
	asked = clock.now();
	tell();
	await clock.advance(5_000);
	expect(answers.map((one) => JSON.parse(one).asked)).toEqual([["one"]]);
	watch.close();
});
