import { expect, it } from "vitest";
import { OrderWatch } from "../../../src/agent/presence/order-watch.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type { Snapshot } from "../../../src/store/store.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const KEYS = new RunKeys("r");
const DRAIN = {
	version: 1,
	incarnation: "a-1",
	reason: "by hand",
	deadline: 9,
};

/** A store whose answers come when the test gives them, in any order. */
async function openWatch() {
	const clock = new VirtualClock();
	const heard: string[] = [];
	const answers: ((snapshot: Snapshot) => void)[] = [];
	let changed: (revision: number) => void = () => {};
	const watch = new OrderWatch({
		...{ clock, keys: KEYS, nodeId: "a", incarnation: "a-1" },
		store: {
			snapshot: () => new Promise((resolve) => answers.push(resolve)),
			watch: (_keys, _after, onChange) => {
				changed = onChange;
				return { close: () => {} };
			},
		},
		listener: {
			noticed: ({ reason, deadline }) => heard.push(`${reason} ${deadline}`),
			withdrawn: (_, reason) => heard.push(`withdrawn: ${reason}`),
		},
	});
	await clock.advance(1_000);
	const answer = async (index: number, snapshot: Snapshot) => {
		answers[index]?.(snapshot);
		await clock.advance(0);
	};
	return { watch, heard, answer, change: () => changed(0) };
}

function snapshot(
	revision: number,
	records: Readonly<Record<string, object>>,
): Snapshot {
	const entries = Object.entries(records).map(([key, record]) => {
		const value = JSON.stringify(record);
		const about = { createRevision: 1, modRevision: revision, lease: null };
		return [key, { key, value, ...about }] as const;
	});
	return { revision, entries: new Map(entries) };
}

it("P9 hears what a command tells this process, and that it is taken back", async () => {
	const { heard, answer, change } = await openWatch();
	await answer(0, snapshot(1, { [KEYS.drainOf("a")]: DRAIN }));
	expect(heard).toEqual(["by hand 9"]);
	change();
	await answer(1, snapshot(2, {}));
	expect(heard.slice(1)).toEqual(["withdrawn: elastic-run leave --cancel"]);
});

it("P9 takes no order that is for another process", async () => {
	const { heard, answer } = await openWatch();
	const other = { ...DRAIN, incarnation: "a-0" };
	await answer(0, snapshot(1, { [KEYS.drainOf("a")]: other }));
	expect(heard).toEqual([]);
});

it("P9 an answer that a later one has overtaken brings back no order", async () => {
	const { heard, answer, change } = await openWatch();
	await answer(0, snapshot(1, {}));
	change();
	change();
	await answer(2, snapshot(3, {}));
	await answer(1, snapshot(2, { [KEYS.drainOf("a")]: DRAIN }));
	expect(heard).toEqual([]);
});
