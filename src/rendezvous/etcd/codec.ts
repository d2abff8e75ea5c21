import { ElasticRunError } from "../../errors.js";
import type {
	Compare,
	Entry,
	ReadBack,
	Snapshot,
	TransactionResult,
	Write,
} from "../store.js";
import type { TxnRequest, TxnResponse } from "./etcd-client.js";

/** What etcd calls no lease. */
const NO_LEASE = "0";

interface Range {
	readonly key: Buffer;
	readonly range_end?: Buffer;
}

/** The keys that a selector matches. */
export function encodeRange(selector: string): Range {
	const key = Buffer.from(selector);
	if (!selector.endsWith("/")) return { key };
	// All that begins with "…/" comes before "…0".
	return { key, range_end: Buffer.from(`${selector.slice(0, -1)}0`) };
}

/**
 * All of it is read at one revision, and nothing that is older than the question.
 * @param after only what has changed after this revision, if given; counted is all
 */
export function encodeSnapshot(
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
		.map(
			(each): Entry => ({
				key: each.key.toString(),
				value: each.value.toString(),
				createRevision: revisionOf(each.create_revision),
				modRevision: revisionOf(each.mod_revision),
				lease: each.lease === NO_LEASE ? null : each.lease,
			}),
		);
	return {
		revision: revisionOf(header.revision),
		entries: new Map(entries.map((entry) => [entry.key, entry])),
	};
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

/** @param reads what was to be read back */
export function decodeTransaction(
	answer: TxnResponse,
	reads: ReadBack,
): TransactionResult {
	const { header, succeeded } = answer;
	const revision = revisionOf(header.revision);
	const selectors = succeeded ? reads.made : reads.refused;
	if (selectors === undefined) return { succeeded, revision };
	// They come last.
	const responses = answer.responses.slice(-selectors.length);
	const read = decodeSnapshot({ ...answer, responses });
	return { succeeded, revision, read };
}

/** etcd's numbers have 64 bits; a store that makes a million changes a second has revisions beyond 2^53 in 285 years. */
export function revisionOf(decimal: string): number {
	const revision = Number(decimal);
	if (Number.isSafeInteger(revision)) return revision;
	throw new ElasticRunError(
		"INTERNAL",
		`etcd's revision ${decimal} cannot be told from its neighbours`,
	);
}
