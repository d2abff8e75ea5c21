import { afterAll, beforeAll, beforeEach } from "vitest";
import { findEtcd, HOW_TO_GET_ETCD } from "../../scripts/find-etcd.js";
import { leaderOf, startMembers } from "./etcd-cluster.js";
import {
	type EtcdApi,
	etcdDeletePrefix,
	leaseRevoke,
	leases,
} from "./etcd-keys.js";
import { type EtcdOptions, START_LIMIT_MS } from "./etcd-member.js";
import { type Certificates, hasOpenssl } from "./etcd-tls.js";
import { onTestFinished, thisTest } from "./this-test.js";

export { ROOT_USER } from "./etcd-gateway.js";
export {
	type EtcdApi,
	type EtcdEntry,
	etcdCompact,
	etcdDelete,
	etcdDeletePrefix,
	etcdGet,
	etcdPut,
	etcdRange,
	leaseGrant,
	leaseRevoke,
	leases,
} from "./etcd-keys.js";
export type { EtcdOptions } from "./etcd-member.js";
export type { Certificates } from "./etcd-tls.js";

/** One server alone elects itself: at etcd's own pace a restart would take more than a second. */
const ALONE = { heartbeatMs: 20, electionMs: 200 };
/** etcd's own. */
export const TOGETHER = { heartbeatMs: 100, electionMs: 1_000 };

export interface EtcdNode extends EtcdApi {
	/** "127.0.0.1:PORT"; "https://127.0.0.1:PORT" with TLS. */
	readonly endpoint: string;
	/** Of its present process. @throws Error where none runs. */
	readonly pid: number;
	readonly dataDirectory: string;
	/** SIGKILL; resolves when it is gone. */
	kill(): Promise<void>;
	/** Starts it again (after SIGKILL, where it runs) on the same ports and data; resolves when it answers. */
	restart(): Promise<void>;
	/** SIGSTOP: its connections stay, and it is mute. */
	suspend(): void;
	/** SIGCONT */
	resume(): void;
}

export interface EtcdServer extends EtcdNode {
	/** Where it was started with TLS. */
	readonly certificates: Certificates | undefined;
	/**
	 * Kills it, removes its data, and starts it again: an empty cluster under the same address,
	 * whose revisions begin again. It has another cluster id, as where an operator sets it up again
	 * from other settings, or the same one, as where only the data was lost.
	 */
	wipe(options?: { readonly sameClusterId?: boolean }): Promise<void>;
}

interface OpenEtcdServer extends EtcdServer {
	/** Ends it and removes its data. */
	close(): Promise<void>;
}

export interface EtcdCluster {
	readonly endpoints: readonly string[];
	/** A member answers only while more than half of them run: restart several at once, and await them together. */
	readonly members: readonly EtcdNode[];
	/** Waits until there is one, and it answers. */
	leader(): Promise<EtcdNode>;
}

/**
 * Starts an etcd on free ports, with its data in memory where there is room; it ends with the test.
 * The test is skipped where there is no etcd, or no openssl for TLS.
 */
export async function startEtcd(
	options: EtcdOptions = {},
): Promise<EtcdServer> {
	const server = await openEtcd(options);
	onTestFinished(() => server.close());
	return server;
}

/** Of this test process, which plays one file after the other; it ends with the process. */
let shared: OpenEtcdServer | undefined;

/**
 * One etcd for all tests of a file, or of a describe: to be called there, and what it returns in the tests. Where nothing
 * special is asked of it, it is the one of this test process, and begins empty.
 */
export function etcdForAll(options?: EtcdOptions): () => EtcdServer {
	let server: OpenEtcdServer | undefined;
	beforeAll(async () => {
		if (whyNone(options) !== undefined) return;
		server =
			options === undefined ? await sharedEtcd() : await openEtcd(options);
	}, START_LIMIT_MS);
	beforeEach((context) => {
		const reason = whyNone(options);
		if (reason !== undefined) context.skip(reason);
	});
	afterAll(() => (server === shared ? undefined : server?.close()));
	return () => {
		if (server === undefined) throw new Error("it runs in tests only");
		return server;
	};
}

async function sharedEtcd(): Promise<OpenEtcdServer> {
	shared ??= await openEtcd();
	const server = shared;
	await etcdDeletePrefix(server, "");
	// A launcher that was killed leaves its lease, which may lapse meanwhile.
	await Promise.allSettled(
		(await leases(server)).map((id) => leaseRevoke(server, id)),
	);
	return server;
}

/**
 * As `startEtcd`, for who closes it.
 *
 * @throws Error that says how to get etcd, where it is called outside of a test and there is none.
 */
export async function openEtcd(
	options: EtcdOptions = {},
): Promise<OpenEtcdServer> {
	const program = needEtcd(options);
	const settings = { ...ALONE, ...options };
	const [member] = await startMembers(program, 1, settings);
	if (member === undefined) throw new Error("no member was started");
	return member;
}

/** Starts several servers as one cluster; they end with the test, which is skipped where there is no etcd. */
export async function startEtcdCluster(
	size: number,
	options: Omit<EtcdOptions, "tls" | "auth"> = {},
): Promise<EtcdCluster> {
	const program = needEtcd(options);
	const settings = { ...TOGETHER, ...options };
	const members = await startMembers(program, size, settings);
	onTestFinished(async () => {
		await Promise.all(members.map((member) => member.close()));
	});
	return {
		endpoints: members.map(({ endpoint }) => endpoint),
		members,
		leader: () => leaderOf(members),
	};
}

/**
 * The path of the etcd; skips the test where there is none. Who expects that `startEtcd` rejects calls this
 * before, so that the skip's reason is not taken for the rejection.
 */
export function needEtcd(options: EtcdOptions = {}): string {
	const reason = whyNone(options);
	const program = etcdProgram();
	if (reason === undefined && program !== undefined) return program;
	thisTest()?.skip(reason ?? "");
	throw new Error(reason);
}

let looked: { readonly program: string | undefined } | undefined;

function etcdProgram(): string | undefined {
	looked ??= { program: findEtcd() };
	return looked.program;
}

/** Why the servers that these options ask for cannot run here; undefined: they can. */
function whyNone({ tls }: EtcdOptions = {}): string | undefined {
	if (etcdProgram() === undefined) return `no etcd here: ${HOW_TO_GET_ETCD}`;
	if (tls !== undefined && !hasOpenssl())
		return "no openssl here, which makes the certificates";
	return undefined;
}
