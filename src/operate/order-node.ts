import { ElasticRunError } from "../base/errors.js";
import type { StoreConfig } from "../config/index.js";
import {
	type DrainRecord,
	encodeRecord,
	informationAt,
	isRefused,
	type NodeView,
	RECORD_VERSION,
	RunKeys,
	type RunView,
	readRunView,
	recordAt,
	SEAT,
	SPEC,
} from "../rendezvous/index.js";
import type { Store, Write } from "../store/index.js";
import { readRun, type Searcher } from "./found-runs.js";
import type { RunPlaces } from "./run-request.js";
import { inStore } from "./run-store.js";

/** What a node shall do: leave (by a time), or stay after all. */
export type NodeOrder =
	| { readonly kind: "drain"; readonly deadline: number | undefined }
	| { readonly kind: "stay" };

export interface OrderOptions {
	readonly runId: string;
	readonly nodeId: string;
	readonly order: NodeOrder;
	/** By whom, in words. */
	readonly reason: string;
}

/** The JSON of `elastic-run leave` with a deadline: docs/notices.md. */
export interface OrderReport {
	readonly version: 1;
	readonly runId: string;
	readonly nodeId: string;
	readonly place: string;
	readonly order: NodeOrder["kind"];
	/** In milliseconds since 1970; null if there is none. */
	readonly deadline: number | null;
	/** How many nodes may take part in a later round, and how many it needs; null if that is not known. */
	readonly left: number;
	readonly minNodes: number | null;
}

/**
 * Tells a node of a run what it shall do, through the run's store. Undefined if there is no such run.
 * @throws ElasticRunError USAGE if the run has no such node, or no store; STORE_UNREACHABLE
 */
export async function orderNode(
	options: OrderOptions,
	places: RunPlaces,
	searcher: Searcher,
): Promise<OrderReport | undefined> {
	const { runId, nodeId, order } = options;
	const [newest] = await readRun(runId, places, searcher);
	const keys = new RunKeys(runId);
	const view = newest && readRunView(keys, newest.snapshot);
	if (newest === undefined || view === undefined) return undefined;
	if (newest.local !== undefined || places.store === undefined) {
		throw usage(
			`run ${runId} is in the memory of its only node; make that leave on its machine: elastic-run leave ${runId}`,
		);
	}
	const write = writeFor(options, keys, view);
	await inStore(places.store, searcher.clock, ({ store, again }) =>
		again(() => store.transaction([], [write])),
	);
	const deadline = order.kind === "drain" ? (order.deadline ?? null) : null;
	const { place, snapshot } = newest;
	const spec = informationAt(SPEC, snapshot, keys.spec, () => {});
	return {
		...{ version: 1, runId, nodeId, place, order: order.kind, deadline },
		left: leftAfter(options, view),
		minNodes: spec?.minNodes ?? null,
	};
}

/** How many nodes may take part in a later round once this order is carried out. */
export function leftAfter(
	{ nodeId: ordered, order }: Pick<OrderOptions, "nodeId" | "order">,
	view: RunView,
): number {
	const mayStay = ([nodeId, node]: readonly [string, NodeView]) => {
		if (nodeId === ordered && order.kind === "drain") return false;
		return node.record.state !== "leaving" && !isRefused(view, node);
	};
	return [...view.nodes].filter(mayStay).length;
}

/**
 * What makes the node hear the order.
 * @throws ElasticRunError USAGE if nobody would hear it: a wrong name, or a node that is gone
 */
export function writeFor(
	{ runId, nodeId, order, reason }: OrderOptions,
	keys: RunKeys,
	{ nodes, round }: RunView,
): Write {
	const node = nodes.get(nodeId);
	if (node === undefined) {
		if (round.outcome !== null) throw usage(`run ${runId} has ended`);
		throw noNode(runId, nodeId, nodes);
	}
	if (order.kind === "stay") return { delete: keys.drainOf(nodeId) };
	const record: DrainRecord = {
		version: RECORD_VERSION,
		incarnation: node.record.incarnation,
		reason,
		deadline: order.deadline,
	};
	return { put: keys.drainOf(nodeId), value: encodeRecord(record) };
}

function noNode(
	runId: string,
	nodeId: string,
	nodes: RunView["nodes"],
): ElasticRunError {
	const names = [...nodes.keys()].sort().join(", ") || "none";
	return usage(`run ${runId} has no node ${nodeId}; its nodes: ${names}`);
}

function usage(words: string): ElasticRunError {
	return new ElasticRunError("USAGE", words);
}

/** Whether the node was readmitted, or why there was nothing to do. */
type Readmission = "readmitted" | "not-replaced" | "no-run";

/**
 * Lets a replaced node in again, with a fresh budget.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export function readmitNode(
	runId: string,
	nodeId: string,
	config: StoreConfig,
	{ clock }: Pick<Searcher, "clock">,
): Promise<Readmission> {
	return inStore(config, clock, ({ store, again }) =>
		again(() => readmit(store, new RunKeys(runId), nodeId)),
	);
}

async function readmit(
	store: Store,
	keys: RunKeys,
	nodeId: string,
): Promise<Readmission> {
	const replaced = keys.replacedNode(nodeId);
	const budget = keys.budget(nodeId);
	const seatKey = keys.seat(nodeId);
	for (;;) {
		const snapshot = await store.snapshot([
			...[keys.round, replaced, budget, seatKey],
		]);
		const { entries } = snapshot;
		if (!entries.has(keys.round)) return "no-run";
		const seat = recordAt(SEAT, snapshot, seatKey);
		const isRefused = seat !== undefined && "refused" in seat;
		if (!entries.has(replaced) && !isRefused) return "not-replaced";
		const guards = [replaced, seatKey].map((key) => ({
			key,
			modRevision: entries.get(key)?.modRevision ?? 0,
		}));
		const { succeeded } = await store.transaction(guards, [
			...[{ delete: replaced }, { delete: budget }],
			...(isRefused ? [{ delete: seatKey }] : []),
		]);
		if (succeeded) return "readmitted";
	}
}
