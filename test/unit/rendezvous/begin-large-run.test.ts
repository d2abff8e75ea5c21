import { expect, it } from "vitest";
import { Membership } from "../../../src/rendezvous/member/membership.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { encodeRecord } from "../../../src/rendezvous/records/record-codec.js";
import type { Outcome } from "../../../src/rendezvous/records/records.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import type {
	Compare,
	TransactionResult,
	Write,
} from "../../../src/store/store.js";
import { agentIdentity, runSpec } from "../../helpers/run-settings.js";
import { roundRecord, seatRecord } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const KEYS = new RunKeys("r");
const SPEC = runSpec({ minNodes: 1, maxNodes: 500 });

/** Refuses what etcd refuses. */
class LimitedStore extends MemoryStore {
	override transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
	): Promise<TransactionResult> {
		if (compares.length > 128 || writes.length > 128) {
			throw new Error("too many operations in txn request");
		}
		return super.transaction(compares, writes);
	}
}

it("a run of many nodes that has ended is begun again, with nothing left of its last start", async () => {
	const store = new LimitedStore();
	const outcome: Outcome = {
		result: "succeeded",
		exitCode: 0,
		reason: "all nodes have finished",
		root: null,
	};
	const round = roundRecord({ instance: 7, synced: 3, deprecated: 2, outcome });
	await store.transaction(
		[],
		[
			{ put: KEYS.round, value: encodeRecord(round) },
			{ put: KEYS.historyOf(3), value: "{}" },
		],
	);
	for (let index = 0; index < 250; index++) {
		const nodeId = `node-${index}`;
		const plan = encodeRecord({ version: 1, ...{ planId: "plan-1" } });
		const seat = encodeRecord(seatRecord(nodeId));
		await store.transaction(
			[],
			[
				{ put: KEYS.seat(nodeId), value: seat },
				{ put: KEYS.finishedBy(nodeId), value: plan },
			],
		);
	}
	const membership = new Membership({
		store,
		clock: new VirtualClock(),
		runId: "r",
		identity: agentIdentity({ nodeId: "node-0" }),
		spec: SPEC,
		reservePort: async () => 4_000,
		random: () => 0,
		coordinating: { onPlanReason: () => {}, onSkipped: () => {} },
	});
	const joined = await membership.join({ isDead: () => false });
	expect(joined).toMatchObject({ instance: 1_000_000 });
	await membership.close();
	const { entries } = await store.snapshot([KEYS.prefix]);
	expect([...entries.keys()].sort()).toEqual([
		KEYS.historyOf(3),
		KEYS.round,
		KEYS.spec,
	]);
});
