import { randomUUID } from "node:crypto";
import { get as getHttp, type IncomingMessage } from "node:http";
import { get as getHttps } from "node:https";
import { text } from "node:stream/consumers";
import { openStore } from "../../agent/joining/open-store.js";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { within } from "../../base/within.js";
import type { StoreConfig } from "../../config/agent-config.js";
import { isHttps } from "../../config/parse/endpoints.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import type { Store } from "../../rendezvous/store/store.js";
import type { StoreFacts } from "./judge-store.js";

const READS = 5;
const LEASE_MS = 10_000;
const VERSION_WITHIN_MS = 2_000;
const ALL_RUNS = "/elastic-run/";

/** The store and the run prefix that agents of this machine would use; the prefix of all runs if no run is named. */
export interface StoreQuestion {
	readonly store: StoreConfig;
	readonly runId: string | undefined;
}

/** Reads and writes as an agent does, and leaves nothing behind. */
export async function probeStore(
	{ store: config, runId }: StoreQuestion,
	clock: Clock,
): Promise<StoreFacts> {
	const prefix = runId === undefined ? ALL_RUNS : new RunKeys(runId).prefix;
	// No run id begins with a dot.
	const key = `${prefix}.doctor-${randomUUID()}`;
	const facts = {
		endpoints: config.endpoints,
		prefix,
		version: undefined,
		readsMs: [],
		unreadable: undefined,
		unwritable: undefined,
	};
	// A client that asks a few times need not spread its tries.
	const store = await openStore(config, { clock, random: () => 0 });
	try {
		const readsMs = await timeReads(store, key, clock);
		const version = await versionOf(config, clock);
		const unwritable = await refusalOf(() => writeOnce(store, key));
		return { ...facts, readsMs, version, unwritable };
	} catch (error) {
		return { ...facts, unreadable: messageOf(error) };
	} finally {
		await store.close();
	}
}

/** The first read, which opens the connection, is not counted. */
async function timeReads(
	store: Store,
	key: string,
	clock: Clock,
): Promise<readonly number[]> {
	await store.snapshot([key]);
	const durations: number[] = [];
	for (let read = 0; read < READS; read++) {
		const began = clock.now();
		await store.snapshot([key]);
		durations.push(clock.now() - began);
	}
	return durations;
}

/** The key vanishes with its lease. */
async function writeOnce(store: Store, key: string): Promise<void> {
	const lease = await store.openLease(LEASE_MS, { onLost() {} });
	try {
		await store.transaction([], [{ put: key, value: "{}", lease: lease.id }]);
	} finally {
		await lease.revoke();
	}
}

async function refusalOf(
	action: () => Promise<void>,
): Promise<string | undefined> {
	try {
		await action();
		return undefined;
	} catch (error) {
		return messageOf(error);
	}
}

/** etcd tells it to any client, outside its API; undefined if it does not. */
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
