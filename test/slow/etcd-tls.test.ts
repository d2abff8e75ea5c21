import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { pipeline } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { isHopeless } from "../../src/base/back-off.js";
import type { EtcdStoreOptions } from "../../src/store/etcd/etcd-store.js";
import {
	type EtcdServer,
	etcdForAll,
	etcdGet,
	startEtcd,
} from "../helpers/etcd.js";
import {
	FEW_CONNECTIONS,
	Follower,
	holdKey,
	insist,
	openStore,
} from "../helpers/etcd-store.js";
import { Revocations, renewClient } from "../helpers/etcd-tls.js";
import { temporaryFolder, waitFor } from "../helpers/processes.js";

const KEY = "/elastic-run/tls/a";

type Files = "ca" | "cert" | "key";

/** The contents of these files of a server's client. */
function tlsOf(
	{ certificates }: EtcdServer,
	...files: readonly Files[]
): NonNullable<EtcdStoreOptions["tls"]> {
	if (certificates === undefined) throw new Error("it runs without TLS");
	const paths = { ...certificates, ca: certificates.cacert };
	return Object.fromEntries(
		files.map((file) => [file, readFileSync(paths[file])]),
	);
}

async function failureAt(
	endpoint: string,
	tls?: EtcdStoreOptions["tls"],
): Promise<unknown> {
	const store = await openStore(endpoint, { tls });
	return store.snapshot([KEY]).then(
		() => undefined,
		(error: unknown) => error,
	);
}

const plain = etcdForAll();
const withTls = etcdForAll({ tls: "server" });
const mutual = etcdForAll({ tls: "mutual" });

describe("TLS", () => {
	test.each([
		["trusts the authority that it is told to", withTls, ["ca"]],
		["shows its certificate to who asks for it", mutual, ["ca", "cert", "key"]],
	] as const)("%s, for calls, leases and watches", async (_, server, files) => {
		for (const host of ["127.0.0.1", "localhost"]) {
			const endpoint = server().endpoint.replace("127.0.0.1", host);
			const store = await openStore(endpoint, {
				tls: tlsOf(server(), ...files),
			});
			const { lease } = await holdKey(store, KEY, 3_000);
			const follower = new Follower(store, KEY);
			await waitFor("a look", () => follower.valueOf(KEY) === "held");
			const until = lease.expiresAt;
			await waitFor("a keepalive", () => lease.expiresAt > until);
			await lease.revoke();
			expect(await etcdGet(server(), KEY)).toBeUndefined();
			expect(store.metrics.connections).toBeLessThan(FEW_CONNECTIONS);
		}
	});

	test.each([
		[
			"a server whose authority is not trusted here",
			withTls,
			[],
			"not signed by an authority that is trusted",
		],
		[
			"a server that misses a client certificate",
			mutual,
			["ca"],
			"asks for a client certificate",
		],
	] as const)("refuses %s in words, for good", async (_, server, files, words) => {
		const error = await failureAt(server().endpoint, tlsOf(server(), ...files));
		expect(error).toMatchObject({
			code: "STORE_UNREACHABLE",
			message: expect.stringContaining(words),
		});
		expect(isHopeless(error)).toBe(true);
	});

	test("refuses a server whose certificate is for another address, for good", async () => {
		const target = Number(new URL(withTls().endpoint).port);
		const relay = createServer((client) => {
			const server = connect(target, "127.0.0.1");
			pipeline(client, server, client, () => {});
		}).listen(0, "127.0.0.2");
		onTestFinished(() => void relay.close());
		await once(relay, "listening");
		const { port } = relay.address() as AddressInfo;
		const tls = tlsOf(withTls(), "ca");
		const error = await failureAt(`https://127.0.0.2:${port}`, tls);
		expect(String(error)).toContain("for another name or address");
		expect(isHopeless(error)).toBe(true);
	});

	test("names the mistake of who speaks it where there is none, and the other way round", async () => {
		const spoken = await failureAt(`https://${plain().endpoint}`);
		expect(String(spoken)).toContain("TLS (https://)");
		const missing = withTls().endpoint.replace("https://", "");
		expect(String(await failureAt(missing))).toContain("TLS (https://)");
	});

	test("K7 a certificate that is renewed is read again, and a revoked one is refused in words", async () => {
		const folder = temporaryFolder();
		onTestFinished(() => folder.remove());
		const revocations = new Revocations(folder.path);
		const flags = ["--client-crl-file", revocations.file];
		const server = await startEtcd({ tls: "mutual", flags });
		const { certificates = expect.unreachable() } = server;
		const tls = tlsOf(server, "ca", "cert", "key");
		const { cacert: ca, cert, key } = certificates;
		const files = { ca, cert, key };
		const store = await openStore(server.endpoint, { tls, files });
		await store.snapshot([KEY]);
		revocations.revoke(cert);
		renewClient(certificates);
		await server.restart();
		await insist(() => store.snapshot([KEY]));
		const refused = await failureAt(server.endpoint, tls);
		expect(String(refused)).toContain("cert=FILE");
	});

	test.each([
		[
			"nonsense for a certificate",
			{ cert: Buffer.from("x"), key: Buffer.from("y") },
		],
		["a certificate without its key", { cert: Buffer.from("x") }],
	])("refuses %s at once", async (_, tls) => {
		await expect(
			openStore("https://127.0.0.1:1", { tls }),
		).rejects.toMatchObject({
			code: "USAGE",
			message: expect.stringContaining("cacert, cert and key"),
		});
	});
});
