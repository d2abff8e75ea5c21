import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { openEtcdStore } from "../../src/store/etcd/etcd-store.js";
import { etcdForAll } from "../helpers/etcd.js";
import { insist, openStore } from "../helpers/etcd-store.js";
import { describeStore } from "./store-contract.js";

const etcd = etcdForAll();
let prefixes = 0;

describeStore("the etcd store", async () => {
	prefixes += 1;
	const store = await openEtcdStore({
		endpoints: [etcd().endpoint],
		clock: systemClock,
		random: Math.random,
	});
	return {
		store,
		prefix: `/elastic-run/contract-${prefixes}/`,
		close: () => store.close(),
	};
});

test("a connection that is made where a watch tells something is not the store's", async () => {
	const server = createServer().listen(0, "127.0.0.1");
	onTestFinished(() => void server.close());
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	const { endpoint } = etcd();
	const key = "/elastic-run/told/key";
	const other = await openStore(endpoint);
	const { revision } = await insist(() => other.snapshot([key]));
	// While one store connects, the sockets of all are looked at.
	const away = await openStore("127.0.0.1:1");
	await away.snapshot([key]).catch(() => {});
	const store = await openStore(endpoint);
	const made = await new Promise<Socket>((resolve) => {
		store.watch([key], revision, () => resolve(connect(port, "127.0.0.1")));
		void insist(() => other.transaction([], [{ put: key, value: "1" }]));
	});
	await once(made, "connect");
	await store.close();
	expect(made.destroyed).toBe(false);
	made.destroy();
});
