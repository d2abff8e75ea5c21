import { ElasticRunError } from "../errors.js";
import { RECORD_VERSION } from "./records.js";
import type { Entry, Snapshot } from "./store.js";

/** Any of the run's records, as JSON for the store. */
export function encodeRecord<Record extends { readonly version: 1 }>(
	record: Record,
): string {
	return JSON.stringify(record);
}

/**
 * The record that an entry holds.
 * @throws ElasticRunError RENDEZVOUS_FAILED where it is unreadable or of another version.
 */
export function decodeRecord<Record extends { readonly version: 1 }>(
	entry: Entry,
): Record {
	const value = parse(entry.value);
	if (isVersioned<Record>(value)) return value;
	throw new ElasticRunError(
		"RENDEZVOUS_FAILED",
		`the store's key ${entry.key} holds no record of version ${RECORD_VERSION}; another version of elastic-run may be using this run id: give another --run-id`,
	);
}

/**
 * The record of a key; undefined where there is none.
 * @throws ElasticRunError as `decodeRecord`
 */
export function recordAt<Record extends { readonly version: 1 }>(
	{ entries }: Pick<Snapshot, "entries">,
	key: string,
): Record | undefined {
	const entry = entries.get(key);
	return entry && decodeRecord<Record>(entry);
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function isVersioned<Record>(value: unknown): value is Record {
	return (
		typeof value === "object" &&
		value !== null &&
		"version" in value &&
		value.version === RECORD_VERSION
	);
}
