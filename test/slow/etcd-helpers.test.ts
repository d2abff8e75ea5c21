import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { readProcess } from "../../src/base/process-stat.js";
import {
	clusterId,
	type EtcdNode,
	etcdCompact,
	etcdDelete,
	etcdDeletePrefix,
	etcdForAll,
	etcdGet,
	etcdPut,
	etcdRange,
	etcdRevision,
	leaseGrant,
	leaseRevoke,
	leases,
	needEtcd,
	startEtcd,
	startEtcdCluster,
} from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { endProcess, isAlive, waitFor } from "../helpers/processes.js";

const HOLDER = fileURLToPath(
	new URL("../fixtures/etcd-holder.ts", import.meta.url),
);

describe("one server", () => {
	test("is killed and restarted on the same address and data", async () => {
		const server = await startEtcd();
		const { endpoint, pid } = server;
		await etcdPut(server, "a", "1");

		await server.kill();

		expect(isAlive(pid)).toBe(false);
		expect(() => server.pid).toThrow("this etcd does not run");
		await expect(etcdGet(server, "a")).rejects.toThrow("ECONNREFUSED");

		await server.restart();

		expect(server.pid).not.toBe(pid);
		expect(server.endpoint).toBe(endpoint);
		expect((await etcdGet(server, "a"))?.value).toBe("1");
	});

	test("is wiped: empty, at the first revision, with another cluster id or the same", async () => {
		const server = await startEtcd();
		const { endpoint } = server;
		const first = await clusterId(server);
		await etcdPut(server, "a", "1");

		await server.wipe();

		const second = await clusterId(server);
		expect(await etcdRange(server, "")).toEqual([]);
		expect(await etcdRevision(server)).toBe(1);
		expect(server.endpoint).toBe(endpoint);
		expect(second).not.toBe(first);

		await etcdPut(server, "a", "1");
		await server.wipe({ sameClusterId: true });

		expect(await etcdRange(server, "")).toEqual([]);
		expect(await clusterId(server)).toBe(second);
	});

	test("is suspended and resumed", async () => {
		const server = await startEtcd();
		const state = () => readProcess(server.pid)?.state;

		server.suspend();
		expect(state()).toBe("T");
		const put = etcdPut(server, "a", "1");
		server.resume();

		await put;
		expect(state()).not.toBe("T");
		expect((await etcdGet(server, "a"))?.value).toBe("1");
	});

	test("is restarted when whoever took its port meanwhile has gone", async () => {
		const server = await startEtcd();
		await server.kill();
		const other = createServer((socket) => socket.destroy()).listen(
			Number(server.endpoint.split(":")[1]),
		);
		await once(other, "listening");

		const restarted = server.restart();
		const tries = new Set<number>();
		await waitFor("a second try", () => {
			try {
				tries.add(server.pid);
			} catch {
				// Between two tries.
			}
			return tries.size > 1;
		});
		other.close();

		await restarted;
		expect(await etcdGet(server, "a")).toBeUndefined();
	});

	test("that ends by itself says its last words", async () => {
		needEtcd();
		await expect(startEtcd({ flags: ["--nonsense"] })).rejects.toThrow(
			/etcd ended: exit code 2\n.*flag provided but not defined: -nonsense/s,
		);
	});

	test("ends, and its data, with a test process that is killed", async () => {
		const args = ["--import", "tsx", HOLDER, needEtcd()];
		const holder = spawn(process.execPath, args, {
			stdio: ["ignore", "pipe", "inherit"],
		});
		onTestFinished(() => void holder.kill("SIGKILL"));
		const [line] = await once(createInterface(holder.stdout), "line");
		const { pid, dataDirectory } = JSON.parse(line);
		onTestFinished(() => endProcess(pid));
		expect(isAlive(pid)).toBe(true);

		holder.kill("SIGKILL");

		await waitFor("etcd to end", () => !isAlive(pid));
		await waitFor("its data to go", () => !existsSync(dataDirectory));
	});
});

describe("looking into the store", () => {
	const server = etcdForAll();

	test("reads and writes keys", async () => {
		const revision = await etcdPut(server(), "run/a", "1");
		await etcdPut(server(), "run/a", "ü");
		await etcdPut(server(), "run/b", "");
		await etcdPut(server(), "run0", "beyond the prefix");

		expect(await etcdGet(server(), "run/a")).toEqual({
			key: "run/a",
			value: "ü",
			createRevision: revision,
			modRevision: revision + 1,
			version: 2,
			lease: undefined,
		});
		expect(await etcdGet(server(), "run/")).toBeUndefined();
		const entries = await etcdRange(server(), "run/");
		expect(entries.map(({ key, value }) => [key, value])).toEqual([
			["run/a", "ü"],
			["run/b", ""],
		]);
		expect(await etcdDelete(server(), "run/a")).toBe(1);
		expect(await etcdDelete(server(), "run/a")).toBe(0);
		expect(await etcdDeletePrefix(server(), "")).toBe(2);
	});

	test("compacts", async () => {
		const revision = await etcdPut(server(), "a", "1");
		await etcdPut(server(), "a", "2");

		expect(await etcdCompact(server())).toBe(revision + 1);

		const key = Buffer.from("a").toString("base64");
		await expect(
			server().call("/v3/kv/range", { key, revision: String(revision) }),
		).rejects.toThrow("required revision has been compacted");
	});

	test("grants and revokes leases", async () => {
		const lease = await leaseGrant(server(), 60);
		await etcdPut(server(), "leased", "1", lease);
		expect((await etcdGet(server(), "leased"))?.lease).toBe(lease);
		expect(await leases(server())).toContain(lease);

		await leaseRevoke(server(), lease);

		expect(await etcdGet(server(), "leased")).toBeUndefined();
		expect(await leases(server())).not.toContain(lease);
	});
});

test("a cluster of three: a killed and a suspended leader are replaced, and return", async () => {
	const cluster = await startEtcdCluster(3);
	/** While the leader changes, etcd refuses calls with 503. */
	const untilItAnswers = <T>(call: () => Promise<T>) =>
		poll("an answer", 60_000, () => call().catch(() => undefined));
	const valueAt = async (member: EtcdNode) =>
		(await untilItAnswers(() => etcdGet(member, "a")))?.value;
	const first = await cluster.leader();
	await untilItAnswers(() => etcdPut(first, "a", "1"));

	await first.kill();
	const second = await cluster.leader();

	expect(second.endpoint).not.toBe(first.endpoint);
	expect(await valueAt(second)).toBe("1");

	await first.restart();
	const suspended = await cluster.leader();
	suspended.suspend();
	const third = await cluster.leader();

	expect(third.endpoint).not.toBe(suspended.endpoint);
	await untilItAnswers(() => etcdPut(third, "a", "2"));
	suspended.resume();
	expect(await valueAt(suspended)).toBe("2");
	expect(new Set(cluster.endpoints).size).toBe(3);
});
