import type {
	TxnRequest,
	TxnResponse,
} from "../../src/store/etcd/etcd-client.js";
import type { Entry } from "../../src/store/store.js";
import type { EtcdData } from "./etcd-data.js";

/** What the last byte of a prefix, "/", becomes in the end of its range. */
const AFTER_SLASH = "0";

/** One key as etcd sends it. */
type Sent = TxnResponse["responses"][number]["response_range"]["kvs"][number];
const sent = new WeakMap<Entry, Sent>();

/** What etcd answers to the reading of ranges: all of a range is counted, and what is too old is left out. */
export function answerRanges(
	data: EtcdData,
	{ success = [] }: TxnRequest,
): TxnResponse {
	const responses = success.map(({ request_range = {} }) => {
		const { key, range_end, min_mod_revision = 0 } = request_range;
		const selector = selectorOf(String(key), range_end);
		const inRange = [...data.snapshot([selector]).entries.values()];
		const shown = inRange.filter(
			({ modRevision }) => modRevision >= Number(min_mod_revision),
		);
		const count = String(inRange.length);
		return { response_range: { count, kvs: shown.sort(byKey).map(toSent) } };
	});
	const header = { revision: String(data.newestRevision) };
	return { header, succeeded: true, responses } as unknown as TxnResponse;
}

function selectorOf(key: string, end: Buffer | undefined): string {
	if (end === undefined) return key;
	if (`${key.slice(0, -1)}${AFTER_SLASH}` === String(end)) return key;
	throw new Error(`${key} to ${end} is not all that begins with a prefix`);
}

function byKey({ key: left }: Entry, { key: right }: Entry): number {
	return left < right ? -1 : 1;
}

function toSent(entry: Entry): Sent {
	const made: Sent = sent.get(entry) ?? {
		key: Buffer.from(entry.key),
		value: Buffer.from(entry.value),
		create_revision: String(entry.createRevision),
		mod_revision: String(entry.modRevision),
		version: "1",
		lease: entry.lease ?? "0",
	};
	sent.set(entry, made);
	return made;
}
