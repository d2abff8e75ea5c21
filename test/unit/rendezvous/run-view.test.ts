import { expect, it } from "vitest";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { encodeRecord } from "../../../src/rendezvous/records/record-codec.js";
import type { NodeState } from "../../../src/rendezvous/records/records.js";
import { readRunView } from "../../../src/rendezvous/records/run-view.js";
import { LeasedStore } from "../../helpers/leased-store.js";
import { nodeRecord, roundRecord, seatRecord } from "../../helpers/run-view.js";

const KEYS = new RunKeys("r");
const ROUND = roundRecord({ synced: 2, planId: "plan-2", seats: 1 });

/** Node b has finished a plan; what it and its seat are now is the row's. */
async function viewWith(
	finishedPlan: string,
	seatPlan: string | null,
	state: NodeState | null,
) {
	const store = new LeasedStore();
	const written: [string, string][] = [
		[KEYS.round, encodeRecord(ROUND)],
		[KEYS.finishedBy("b"), encodeRecord({ version: 1, planId: finishedPlan })],
	];
	if (seatPlan !== null) {
		const seat = seatRecord("b", { planId: seatPlan, incarnation: "b-2" });
		written.push([KEYS.seat("b"), encodeRecord(seat)]);
	}
	if (state !== null) {
		written.push([KEYS.node("b"), encodeRecord(nodeRecord("b", { state }))]);
	}
	await store.transaction(
		[],
		written.map(([put, value]) => ({ put, value })),
	);
	const view = readRunView(KEYS, await store.snapshot([KEYS.prefix]));
	return {
		finished: [...(view?.finished ?? [])],
		done: [...(view?.done ?? [])],
	};
}

it.each<[string, string, string | null, NodeState | null, string]>([
	["this plan, as a member", "plan-2", "plan-2", "finished", "finished"],
	["this plan, and is gone", "plan-2", "plan-2", null, "finished"],
	["an earlier plan, without a seat in this one", "plan-1", null, null, "done"],
	["an earlier plan, with that plan's seat", "plan-1", "plan-1", null, "done"],
	["an earlier plan, and works in this one", "plan-1", "plan-2", "running", ""],
	[
		"an earlier plan, and its replacement is gone",
		"plan-1",
		"plan-2",
		null,
		"",
	],
	[
		"an earlier plan, and is back after its replacement had taken its seat",
		...(["plan-1", "plan-2", "finished", "done"] as const),
	],
])("a node that has finished %s", async (_, plan, seat, state, counts) => {
	expect(await viewWith(plan, seat, state)).toEqual({
		finished: counts === "finished" ? ["b"] : [],
		done: counts === "done" ? ["b"] : [],
	});
});

it("names a key whose last part is no node id, also below another one", async () => {
	const store = new LeasedStore();
	const put = (key: string, value: string) => ({ put: key, value });
	await store.transaction(
		[],
		[
			put(KEYS.round, encodeRecord(ROUND)),
			put(KEYS.seat("a/b"), encodeRecord(seatRecord("b"))),
		],
	);
	const snapshot = await store.snapshot([KEYS.prefix]);
	expect(() => readRunView(KEYS, snapshot)).toThrow(
		"/elastic-run/r/seats/a/b is garbled: a node id is",
	);
});
