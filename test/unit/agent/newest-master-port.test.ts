import { expect, it } from "vitest";
import { otherPorts } from "../../../src/agent/joining/newest-master-port.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { encodeRecord } from "../../../src/rendezvous/records/record-codec.js";
import { MemoryStore } from "../../../src/rendezvous/store/memory-store.js";
import { roundRecord, WORLD } from "../../helpers/run-view.js";

async function storeWith(value?: string): Promise<MemoryStore> {
	const store = new MemoryStore();
	const put = new RunKeys("r").round;
	if (value !== undefined) await store.transaction([], [{ put, value }]);
	return store;
}

const away = async () => Promise.reject(new Error("away"));
const ran = encodeRecord(roundRecord({ world: WORLD }));
const began = encodeRecord(roundRecord({ world: null }));

it.each([
	["the newest round's master port", () => storeWith(ran), 4000],
	["nothing, in a run without a round", () => storeWith(), undefined],
	["nothing, in a run that had no world", () => storeWith(began), undefined],
	["nothing, in a garbled round", () => storeWith("{"), undefined],
	["nothing, in a store that cannot be opened", away, undefined],
])("the first claim of an agent avoids %s", async (_, open, port) => {
	const calls: unknown[] = [];
	const reserve = otherPorts("r", open(), {
		avoid: (avoided) => void calls.push(avoided),
		reserve: async () => calls.push("claim"),
	});
	await reserve();
	await reserve();
	expect(calls).toEqual([port, "claim", "claim"]);
});
