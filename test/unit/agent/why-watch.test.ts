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
