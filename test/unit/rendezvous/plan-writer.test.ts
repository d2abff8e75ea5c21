import { expect, it } from "vitest";
import { PlanWriter } from "../../../src/rendezvous/member/plan-writer.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import { runView } from "../../helpers/run-view.js";

const KEYS = new RunKeys("r");
const WRITTEN = "/elastic-run/r/written";

/** A store whose coordinator is "b", and a writer that was told this of its own key. */
async function writerWith(token: { value: string; revisionsOff?: number }) {
	const store = new MemoryStore();
	await store.transaction([], [{ put: KEYS.round, value: "{}" }]);
	await store.transaction([], [{ put: KEYS.coordinator, value: "b" }]);
	const { entries } = await store.snapshot([KEYS.round, KEYS.coordinator]);
	const { value, revisionsOff = 0 } = token;
	const of = (key: string) => entries.get(key) ?? expect.unreachable();
	const { createRevision } = of(KEYS.coordinator);
	const writer = new PlanWriter({
		store,
		keys: KEYS,
		fencingToken: { value, createRevision: createRevision + revisionsOff },
		coordinating: {},
	});
	const roundRevision = of(KEYS.round).modRevision;
	const write = (change = 0) =>
		writer.write([{ put: WRITTEN, value: "1" }], {
			...runView({}, []),
			roundRevision: roundRevision + change,
		});
	const isThere = async () =>
		(await store.snapshot([WRITTEN])).entries.has(WRITTEN);
	return { write, isThere };
}

it.each([
	["of an earlier term of its own", { value: "b", revisionsOff: -1 }, 0],
	[
		"that is another's, whatever its revision in another store",
		{ value: "a" },
		0,
	],
	["of a round that has changed since", { value: "b" }, -1],
])("writes nothing under a key %s", async (_, token, change) => {
	const { write, isThere } = await writerWith(token);
	expect(await write(change)).toMatchObject({ succeeded: false });
	expect(await isThere()).toBe(false);
});
