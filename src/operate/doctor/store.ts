import { randomUUID } from "node:crypto";
import { get as getHttp, type IncomingMessage } from "node:http";
import { get as getHttps } from "node:https";
import { text } from "node:stream/consumers";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { within } from "../../base/within.js";
import type { StoreConfig } from "../../config/agent-config.js";
import { isHttps } from "../../config/parse/endpoints.js";
import { openStore } from "../../rendezvous/access/open-store.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import type { Store } from "../../rendezvous/store/store.js";

const LEASE_MS = 10_000;
const VERSION_WITHIN_MS = 2_000;
const ALL_RUNS = "/elastic-run/";

/** The facts about an etcd; `undefined` if unknown. */
export interface StoreFacts {
	readonly endpoints: readonly string[];
	/** Why it could not be read, in words. */
	readonly unreadable: string | undefined;
	/** "3.4.23" */
	readonly version: string | undefined;
	/** The prefix for this machine's agents. */
	readonly prefix: string;
	/** Why nothing could be written there, in words. */
	readonly unwritable: string | undefined;
}

/** The store and the run prefix that agents of this machine would use; the prefix of all runs if no run is named. */
export interface StorePlace {
	readonly store: StoreConfig;
	readonly runId: string | undefined;
}

/** Reads and writes as an agent does, and leaves nothing behind. */
export async function probeStore(
	{ store: config, runId }: StorePlace,
	clock: Clock,
): Promise<StoreFacts> {
	const prefix = runId === undefined ? ALL_RUNS : new RunKeys(runId).prefix;
	// No run id begins with a dot.
	const key = `${prefix}.doctor-${randomUUID()}`;
	const facts: StoreFacts = {
		endpoints: config.endpoints,
		prefix,
		version: undefined,
		unreadable: undefined,
		unwritable: undefined,
	};
	// A client that asks a few times need not spread its tries.
	const store = await openStore(config, { clock, random: () => 0 });
	try {
		await store.snapshot([key]);
		const version = await versionOf(config, clock);
		const unwritable = await writeOnce(store, key);
		return { ...facts, version, unwritable };
	} catch (error) {
		return { ...facts, unreadable: messageOf(error) };
	} finally {
		await store.close();
	}
}

/** The key vanishes with its lease. Returns why it cannot be written, in words. */
async function writeOnce(
	store: Store,
	key: string,
): Promise<string | undefined> {
	try {
		const lease = await store.openLease(LEASE_MS, { onLost() {} });
		await store
			.transaction([], [{ put: key, value: "{}", lease: lease.id }])
			.finally(() => lease.revoke());
		return undefined;
	} catch (error) {
		return messageOf(error);
	}
}

/** etcd serves it to any client, outside its API; undefined if it does not. */
async function versionOf(
	{ endpoints, credentials }: StoreConfig,
	clock: Clock,
): Promise<string | undefined> {
	const [endpoint = ""] = endpoints;
	const answer = new Promise<IncomingMessage>((resolve, reject) => {
		const request = isHttps(endpoint)
			? getHttps(`${endpoint}/version`, { ...credentials.tls }, resolve)
			: getHttp(`http://${endpoint}/version`, resolve);
		request.on("error", reject);
	});
	const read = async () => text(await answer);
	const body = await within(clock, VERSION_WITHIN_MS, read()).catch(() => "");
	return /"etcdserver":"([^"]+)"/.exec(body ?? "")?.[1];
}
