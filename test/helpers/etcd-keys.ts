/** What tests read and write in a server, independently of the project's own store. */

/** Something that answers calls of etcd's JSON gateway. */
export interface EtcdApi {
	/**
	 * @param path "/v3/kv/range"; keys and values are base64, 64-bit numbers are strings.
	 * @throws Error with etcd's message.
	 */
	call<T>(path: string, body?: object): Promise<T>;
}

export interface EtcdEntry {
	readonly key: string;
	readonly value: string;
	readonly createRevision: number;
	readonly modRevision: number;
	readonly version: number;
	/** Decimal, since it takes 64 bits; undefined: the key hangs on none. */
	readonly lease: string | undefined;
}

interface Answer {
	readonly header: { readonly revision: string };
}

interface RangeAnswer extends Answer {
	readonly kvs?: readonly {
		readonly key: string;
		/** etcd leaves out what is empty. */
		readonly value?: string;
		readonly create_revision: string;
		readonly mod_revision: string;
		readonly version: string;
		readonly lease?: string;
	}[];
}

export async function etcdGet(
	server: EtcdApi,
	key: string,
): Promise<EtcdEntry | undefined> {
	const answer = await server.call<RangeAnswer>("/v3/kv/range", {
		key: encode(key),
	});
	return entriesOf(answer)[0];
}

/** All keys that begin with a prefix, in order; all of them for "". */
export async function etcdRange(
	server: EtcdApi,
	prefix: string,
): Promise<readonly EtcdEntry[]> {
	return entriesOf(
		await server.call<RangeAnswer>("/v3/kv/range", rangeOf(prefix)),
	);
}

/** Returns the revision of the write. */
export async function etcdPut(
	server: EtcdApi,
	key: string,
	value: string,
	lease?: string,
): Promise<number> {
	const body = { key: encode(key), value: encode(value), lease };
	return revisionOf(await server.call<Answer>("/v3/kv/put", body));
}

/** Returns how many keys there were to delete: 0 or 1. */
export async function etcdDelete(
	server: EtcdApi,
	key: string,
): Promise<number> {
	return deleteRange(server, { key: encode(key) });
}

/** Deletes all keys that begin with a prefix, and returns how many there were. */
export async function etcdDeletePrefix(
	server: EtcdApi,
	prefix: string,
): Promise<number> {
	return deleteRange(server, rangeOf(prefix));
}

/** The store's present revision. */
async function etcdRevision(server: EtcdApi): Promise<number> {
	return revisionOf(
		await server.call<Answer>("/v3/kv/range", { key: encode("\0") }),
	);
}

/** Forgets what was before a revision, by default before the present one; returns it. */
export async function etcdCompact(
	server: EtcdApi,
	revision?: number,
): Promise<number> {
	const to = revision ?? (await etcdRevision(server));
	await server.call("/v3/kv/compaction", { revision: String(to) });
	return to;
}

/** Returns the lease's id, decimal. */
export async function leaseGrant(
	server: EtcdApi,
	ttlSeconds: number,
): Promise<string> {
	const body = { TTL: ttlSeconds };
	return (await server.call<{ ID: string }>("/v3/lease/grant", body)).ID;
}

/** @param id decimal, as in `EtcdEntry.lease` */
export async function leaseRevoke(server: EtcdApi, id: string): Promise<void> {
	await server.call("/v3/lease/revoke", { ID: id });
}

/** The ids of all leases that live, decimal. */
export async function leases(server: EtcdApi): Promise<readonly string[]> {
	const answer = await server.call<{ leases?: readonly { ID: string }[] }>(
		"/v3/lease/leases",
	);
	return (answer.leases ?? []).map(({ ID }) => ID);
}

/** The fields of a request that stand for all keys with a prefix. */
export function rangeOf(prefix: string): { key: string; range_end: string } {
	const bytes = Buffer.from(prefix === "" ? "\0" : prefix);
	const end = prefix === "" ? Buffer.from("\0") : Buffer.from(bytes);
	const last = end.length - 1;
	// No byte of UTF-8 is 255, so that the last one can be raised.
	if (prefix !== "") end.writeUInt8(end.readUInt8(last) + 1, last);
	return { key: bytes.toString("base64"), range_end: end.toString("base64") };
}

async function deleteRange(server: EtcdApi, range: object): Promise<number> {
	const answer = await server.call<{ deleted?: string }>(
		"/v3/kv/deleterange",
		range,
	);
	return Number(answer.deleted ?? 0);
}

function entriesOf({ kvs = [] }: RangeAnswer): readonly EtcdEntry[] {
	return kvs.map((each) => ({
		key: decode(each.key),
		value: decode(each.value ?? ""),
		createRevision: Number(each.create_revision),
		modRevision: Number(each.mod_revision),
		version: Number(each.version),
		lease: each.lease,
	}));
}

function revisionOf({ header }: Answer): number {
	return Number(header.revision);
}

function encode(text: string): string {
	return Buffer.from(text).toString("base64");
}

function decode(text: string): string {
	return Buffer.from(text, "base64").toString("utf8");
}
