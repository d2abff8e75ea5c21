import { REPLACED } from "../../src/rendezvous/records/departure-records.js";
import type { RunKeys } from "../../src/rendezvous/records/keys.js";
import { decodeRecord } from "../../src/rendezvous/records/record-codec.js";
import {
	BUDGET,
	type BudgetRecord,
	COORDINATOR,
	NODE,
	type NodeRecord,
	ROUND,
	SEAT,
	type SeatRecord,
} from "../../src/rendezvous/records/records.js";
import type { Entry } from "../../src/store/store.js";
import type { EtcdData } from "./etcd-data.js";
import type { RoundCommit } from "./history.js";

/** The run's round as the store has it now, and what stands beside it; undefined where there is none. */
export function readRound(
	data: EtcdData,
	keys: RunKeys,
): Omit<RoundCommit, "at" | "by" | "wipes"> | undefined {
	const { entries, revision } = data.snapshot([
		keys.round,
		keys.seats,
		keys.nodes,
		keys.budgets,
		...[keys.finished, keys.replaced],
	]);
	const entry = entries.get(keys.round);
	if (entry === undefined) return undefined;
	const round = decodeRecord(ROUND, entry);
	const seats = new Map<string, SeatRecord>();
	const nodes = new Map<string, NodeRecord>();
	const budgets = new Map<string, BudgetRecord>();
	const finished = new Set<string>();
	const reset = new Set<string>();
	for (const [key, each] of entries) {
		const name = key.slice(key.lastIndexOf("/") + 1);
		if (key.startsWith(keys.seats)) {
			const seat = decodeRecord(SEAT, each);
			const isCurrent = "planId" in seat && seat.planId === round.planId;
			if (isCurrent) seats.set(name, seat);
		} else if (key.startsWith(keys.nodes)) {
			nodes.set(name, decodeRecord(NODE, each));
		} else if (key.startsWith(keys.budgets)) {
			budgets.set(name, decodeRecord(BUDGET, each));
		} else if (key.startsWith(keys.finished)) {
			finished.add(name);
		} else if (key.startsWith(keys.replaced)) {
			const { replacement } = decodeRecord(REPLACED, each);
			if (replacement !== undefined) reset.add(name);
		}
	}
	return { revision, round, seats, nodes, budgets, finished, reset };
}

/** Who coordinates, as this entry of the store says. */
export function coordinatorOf(entry: Entry | undefined): string | null {
	return entry ? decodeRecord(COORDINATOR, entry).incarnation : null;
}
