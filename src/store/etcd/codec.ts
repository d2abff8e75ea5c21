import { ElasticRunError } from "../../base/errors.js";
import type {
	Compare,
	Entry,
	ReadBack,
	Snapshot,
	TransactionResult,
	Write,
} from "../store.js";
import type { TxnRequest, TxnResponse, WatchResponse } from "./etcd-client.js";

/** etcd's id for "no lease". */
const NO_LEASE = "0";

interface Range {
	readonly key: Buffer;
	readonly range_end?: Buffer;
}

export function encodeRange(selector: string): Range {
	const key = Buffer.from(selector);
	if (!selector.endsWith("/")) return { key };
	// All keys that begin with "…/" sort before "…0".
	return { key, range_end: Buffer.from(`${selector.slice(0, -1)}0`) };
}

/**
 * Reads everything at one revision, no older than the request.
 * @param after reads only what changed after this revision, if given; everything is counted
 */
function encodeSnapshot(
	selectors: readonly string[],
	after?: number,
): TxnRequest {
	const filter = after === undefined ? {} : { min_mod_revision: after + 1 };
	return {
		success: selectors.map((selector) => ({
			request_range: { ...encodeRange(selector), ...filter },
		})),
	};
}

export function decodeSnapshot({ header, responses }: TxnResponse): Snapshot {
	const entries = responses
		.flatMap(({ response_range }) => response_range.kvs)
		.map(entryOf);
	return {
		revision: revisionOf(header.revision),
		entries: new Map(entries.map((entry) => [entry.key, entry])),
	};
}

type KeyValue = WatchResponse["events"][number]["kv"];

function entryOf(each: KeyValue): Entry {
	return {
		key: each.key.toString(),
		value: each.value.toString(),
		createRevision: revisionOf(each.create_revision),
		modRevision: revisionOf(each.mod_revision),
		lease: each.lease === NO_LEASE ? null : each.lease,
	};
}

/** What a watch says that its keys hold now; undefined if one was deleted. */
export function decodeNews({
	events,
}: Pick<WatchResponse, "events">): readonly Entry[] | undefined {
	return events.every(({ type }) => type === "Put")
		? events.map(({ kv }) => entryOf(kv))
		: undefined;
}

export function encodeTransaction(
	compares: readonly Compare[],
	writes: readonly Write[],
	{ made = [], refused = [] }: ReadBack = {},
): TxnRequest {
	return {
		compare: compares.flatMap((compare) =>
			conditionsOf(compare).map((condition) => ({
				key: Buffer.from(compare.key),
				result: "Equal" as const,
				...condition,
			})),
		),
		success: [...writes.map(encodeWrite), ...made.map(encodeRead)],
		failure: refused.map(encodeRead),
	};
}

function encodeRead(selector: string) {
	return { request_range: encodeRange(selector) };
}

function encodeWrite(write: Write) {
	if ("delete" in write) {
		return { request_delete_range: { key: Buffer.from(write.delete) } };
	}
	const { put, value, lease = NO_LEASE } = write;
	return {
		request_put: {
			key: Buffer.from(put),
			value: Buffer.from(value),
			lease,
		},
	};
}

function conditionsOf(compare: Compare) {
	if ("modRevision" in compare) {
		return [{ target: "Mod" as const, mod_revision: compare.modRevision }];
	}
	const { createRevision, value } = compare;
	return [
		{ target: "Create" as const, create_revision: createRevision },
		...(value === undefined
			? []
			: [{ target: "Value" as const, value: Buffer.from(value) }]),
	];
}

/** @param reads the selectors to be read back */
export function decodeTransaction(
	answer: TxnResponse,
	reads: ReadBack,
): TransactionResult {
	const { header, succeeded } = answer;
	const revision = revisionOf(header.revision);
	const selectors = succeeded ? reads.made : reads.refused;
	if (selectors === undefined) return { succeeded, revision };
	// The reads come last.
	const responses = answer.responses.slice(-selectors.length);
	const read = decodeSnapshot({ ...answer, responses });
	return { succeeded, revision, read };
}

/** etcd's numbers have 64 bits. A store with a million changes per second exceeds 2^53 after 285 years. */
export function revisionOf(decimal: string): number {
	const revision = Number(decimal);
	if (Number.isSafeInteger(revision)) return revision;
	throw new ElasticRunError(
		"INTERNAL",
		`etcd's revision ${decimal} cannot be told from its neighbours`,
	);
}

/** Reads what the selectors match. With earlier records it reads only changes, if these give the whole. */
export async function readSnapshot(
	selectors: readonly string[],
	known: Snapshot | undefined,
	send: (request: TxnRequest) => Promise<TxnResponse>,
): Promise<Snapshot> {
	if (known !== undefined) {
		const answer = await send(encodeSnapshot(selectors, known.revision));
		const merged = mergeSnapshot(known, selectors, answer);
		if (merged !== undefined) return merged;
	}
	return decodeSnapshot(await send(encodeSnapshot(selectors)));
}

/**
 * The earlier records with the changes since. Undefined if etcd's count shows that they are incomplete: keys of a prefix
 * were deleted, or something was not known; or if this is another etcd, whose revisions are lower.
 */
function mergeSnapshot(
	known: Snapshot,
	selectors: readonly string[],
	answer: TxnResponse,
): Snapshot | undefined {
	const { revision, entries: changes } = decodeSnapshot(answer);
	if (revision < known.revision) return undefined;
	const held = answer.responses.map(({ response_range }) =>
		Number(response_range.count),
	);
	const counts = selectors.map(() => 0);
	const entries = new Map<string, Entry>();
	for (const [key, entry] of new Map([...known.entries, ...changes])) {
		const places = placesOf(key, selectors);
		const isGone = places.some((place) => held[place] === 0);
		if (isGone || places.length === 0) continue;
		entries.set(key, entry);
		for (const place of places) counts[place] = (counts[place] ?? 0) + 1;
	}
	const isWhole = held.every((count, place) => count === counts[place]);
	return isWhole ? { revision, entries } : undefined;
}

/** The selectors that match a key, by index. */
function placesOf(key: string, selectors: readonly string[]): number[] {
	const places: number[] = [];
	for (const [place, selector] of selectors.entries()) {
		if (isSelected(key, selector)) places.push(place);
	}
	return places;
}

function isSelected(key: string, selector: string): boolean {
	return selector.endsWith("/") ? key.startsWith(selector) : key === selector;
}
