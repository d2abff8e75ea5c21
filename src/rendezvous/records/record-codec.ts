import { attempt } from "../../base/attempt.js";
import { ElasticRunError, messageOf } from "../../base/errors.js";
import {
	isObject,
	type Misfit,
	type Shape,
	type Verdict,
} from "../../base/shape.js";
import type { Entry, Snapshot } from "../../store/index.js";
import { ALL_RUNS } from "./keys.js";
import { RECORD_VERSION } from "./records.js";

/** The longest part of a wrong value or of a key in a message. */
const MOST_OF_VALUE = 60;
const MOST_OF_KEY = 300;
/** Characters that a terminal may act on, or that a reader may not see. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Receives a message about what is left out because it is unreadable. */
export type Warn = (message: string) => void;

/** A run's keys hold something that this program did not write: the run's state cannot be known. */
export class GarbledRecordError extends ElasticRunError {
	constructor(message: string) {
		super("RENDEZVOUS_FAILED", message);
	}
}

/** Encodes any record as JSON for the store. */
export function encodeRecord<Record extends { readonly version: 1 }>(
	record: Record,
): string {
	return JSON.stringify(record);
}

/** The last record that was decoded from each entry, and as what: few entries change between two looks. */
const decoded = new WeakMap<
	Entry,
	{ readonly shape: unknown; readonly record: unknown }
>();

/**
 * Decodes the record of an entry. Whatever the entry holds, the result has the record's shape in each field.
 * @throws ElasticRunError RENDEZVOUS_FAILED, which names the key and the field
 */
export function decodeRecord<Record extends { readonly version: 1 }>(
	shape: Shape<Record>,
	entry: Entry,
): Record {
	const known = decoded.get(entry);
	if (known?.shape === shape) return known.record as Record;
	const value: unknown = attempt(() => JSON.parse(entry.value));
	if (!isObject(value) || value.version !== RECORD_VERSION) {
		throw new GarbledRecordError(
			`the store's key ${shown(entry.key)} holds no record of version ${RECORD_VERSION}; another version of elastic-run may be using it: ${remedyFor(entry)}`,
		);
	}
	const verdict: Verdict = {};
	if (shape(value, verdict)) {
		decoded.set(entry, { shape, record: value });
		return value;
	}
	throw garbled(entry, inWords(verdict.misfit));
}

/**
 * The same for a record with a lease. Without a lease it would outlive its writer, and the run would wait for it.
 * @throws ElasticRunError as `decodeRecord`
 */
export function decodeLeased<Record extends { readonly version: 1 }>(
	shape: Shape<Record>,
	entry: Entry,
): Record {
	const record = decodeRecord(shape, entry);
	if (entry.lease !== null) return record;
	throw garbled(entry, "it has no lease, but its writer's lease is required");
}

/**
 * The record of a key; undefined if there is none.
 * @throws ElasticRunError as `decodeRecord`
 */
export function recordAt<Record extends { readonly version: 1 }>(
	shape: Shape<Record>,
	{ entries }: Pick<Snapshot, "entries">,
	key: string,
): Record | undefined {
	const entry = entries.get(key);
	return entry && decodeRecord(shape, entry);
}

/**
 * Reads a record that only informs people; an unreadable one is left out.
 * @param warn receives the reason, and that nothing else follows
 */
export function informationAt<Record extends { readonly version: 1 }>(
	shape: Shape<Record>,
	snapshot: Pick<Snapshot, "entries">,
	key: string,
	warn: Warn,
): Record | undefined {
	try {
		return recordAt(shape, snapshot, key);
	} catch (error) {
		warn(`left out: ${messageOf(error)}`);
		return undefined;
	}
}

/** Reports the same thing once. */
export function onceEach(warn: Warn): Warn {
	const told = new Set<string>();
	return (message) => {
		if (!told.has(message)) warn(message);
		told.add(message);
	};
}

/** The error for a valid record that contradicts the others. */
export function garbled(
	entry: Pick<Entry, "key">,
	problem: string,
): GarbledRecordError {
	return new GarbledRecordError(
		`the store's key ${shown(entry.key)} is garbled: ${problem}; ${remedyFor(entry)}`,
	);
}

function inWords(misfit: Misfit | undefined): string {
	const { path = "", value, allowed = "" } = misfit ?? {};
	const where = path === "" ? "its value" : `its ${shown(path)}`;
	const is =
		value === undefined
			? "missing"
			: shown(JSON.stringify(value), MOST_OF_VALUE);
	return `${where} is ${is}, but must be ${allowed}`;
}

function remedyFor({ key }: Pick<Entry, "key">): string {
	const runId = key.slice(ALL_RUNS.length).split("/")[0] ?? "";
	return `give another --run-id, or remove the run with "elastic-run clean ${shown(runId)} --yes" when its agents are gone`;
}

function shown(value: string, most = MOST_OF_KEY): string {
	const seen = value.replaceAll(UNSEEN, "");
	return seen.length > most ? `${seen.slice(0, most)}…` : seen;
}
