import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import {
	type EtcdServer,
	etcdForAll,
	etcdGet,
	etcdPut,
	startEtcd,
} from "../helpers/etcd.js";
import { EtcdGateway, poll } from "../helpers/etcd-gateway.js";
import { waitFor } from "../helpers/processes.js";
import { startProxy, type TcpProxy } from "../helpers/tcp-proxy.js";

describe("a proxy before etcd", () => {
	const etcd = etcdForAll();

	test("lets everything through, and counts it", async () => {
		const { proxy, wire } = await open(etcd());

		expect(proxy.endpoint).not.toBe(etcd().endpoint);
		expect(await putThrough(proxy, "through")).toBe(true);
		expect((await etcdGet(etcd(), "through"))?.value).toBe("1");

		expect(proxy.accepted).toBe(2);
		await waitFor("the call's connection to go", () => proxy.connections === 1);
		expect(proxy.bytes.toServer).toBeGreaterThan(wire.sentBytes);
		expect(proxy.bytes.toClient).toBeGreaterThan(wire.received.length);
	});

	test("stall: old and new connections are mute; all of it comes later", async () => {
		const { proxy, wire } = await open(etcd());
		const before = { ...proxy.bytes };

		proxy.stall();
		wire.ask();
		const put = putThrough(proxy, "stalled");
		await waitFor("a new connection", () => proxy.accepted === 2);
		await etcdPut(etcd(), "meanwhile", "1");

		expect(await etcdGet(etcd(), "stalled")).toBeUndefined();
		expect(proxy.bytes).toEqual(before);
		expect(proxy.connections).toBe(2);

		await proxy.resume();

		await wire.answers(2);
		expect(await put).toBe(true);
	});

	test("stallOld: old connections are mute, new ones work", async () => {
		const { proxy, wire } = await open(etcd());

		proxy.stallOld();
		wire.ask();

		expect(await putThrough(proxy, "new")).toBe(true);
		expect(wire.count).toBe(1);

		await proxy.resume();
		await wire.answers(2);
	});

	test("oneWay to the server: what is asked is done, and no answer comes", async () => {
		const { proxy, wire } = await open(etcd());
		const before = { ...proxy.bytes };

		proxy.oneWay("to-server");
		const put = putThrough(proxy, "one way");
		await poll("the key", 60_000, () => etcdGet(etcd(), "one way"));

		expect(proxy.bytes.toClient).toBe(before.toClient);
		expect(proxy.bytes.toServer).toBeGreaterThan(before.toServer);

		await proxy.resume();
		expect(await put).toBe(true);
		wire.ask();
		await wire.answers(2);
	});

	test("oneWay to the client: nothing that is asked arrives", async () => {
		const { proxy } = await open(etcd());
		const before = { ...proxy.bytes };

		proxy.oneWay("to-client");
		const put = putThrough(proxy, "other way");
		await waitFor("a new connection", () => proxy.accepted === 2);
		await etcdPut(etcd(), "meanwhile", "1");

		expect(proxy.bytes.toServer).toBe(before.toServer);
		expect(await etcdGet(etcd(), "other way")).toBeUndefined();

		await proxy.resume();
		expect(await put).toBe(true);
	});

	test("reset: old connections break, new ones work", async () => {
		const { proxy, wire } = await open(etcd());

		proxy.reset();

		expect(await wire.broken).toBe("ECONNRESET");
		expect(await putThrough(proxy, "after the reset")).toBe(true);
	});

	test("cut: old connections break, new ones are refused, until it resumes on the same port", async () => {
		const { proxy, wire } = await open(etcd());
		const { endpoint } = proxy;

		proxy.cut();

		expect(await wire.broken).toBe("ECONNRESET");
		expect(proxy.connections).toBe(0);
		await expect(putThrough(proxy, "cut")).rejects.toThrow("ECONNREFUSED");

		await proxy.resume();

		expect(proxy.endpoint).toBe(endpoint);
		expect(await putThrough(proxy, "resumed")).toBe(true);
	});

	test("a target with TLS: what is encrypted goes through as it is", async () => {
		const server = await startEtcd({ tls: "mutual" });
		const proxy = await startProxy(server.endpoint);
		expect(proxy.endpoint).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
		const gateway = new EtcdGateway(proxy.endpoint, server.certificates);
		await etcdPut(gateway, "encrypted", "1");
		expect((await etcdGet(server, "encrypted"))?.value).toBe("1");
	});
});

test("the end of a connection is held back as its bytes are", async () => {
	const accepted: Socket[] = [];
	const server = createServer((socket) => {
		accepted.push(socket.on("error", () => {}).resume());
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => void server.close());
	const address = server.address();
	if (typeof address !== "object" || address === null)
		throw new Error("no port");
	const proxy = await startProxy(`127.0.0.1:${address.port}`);
	const clients = await Promise.all([dial(proxy), dial(proxy)]);
	await waitFor("both to be passed on", () => accepted.length === 2);

	proxy.stall();
	clients[0].end();
	clients[1].resetAndDestroy();
	await waitFor("one to be noticed", () => proxy.connections === 1);
	const later = await dial(proxy);
	await waitFor("a third one", () => accepted.length === 3);

	expect(accepted.map(({ closed }) => closed)).toEqual([false, false, false]);

	await proxy.resume();

	const [first, second] = accepted;
	await waitFor("both ends", () => first?.closed && second?.closed);
	expect(later.closed).toBe(false);
});

/** A proxy before a server, and a connection through it on which one answer has come. */
async function open({
	endpoint,
}: EtcdServer): Promise<{ proxy: TcpProxy; wire: Wire }> {
	const proxy = await startProxy(endpoint);
	const wire = new Wire(await dial(proxy));
	wire.ask();
	await wire.answers(1);
	return { proxy, wire };
}

async function dial({ endpoint }: TcpProxy): Promise<Socket> {
	const socket = connect(Number(endpoint.split(":")[1]), "127.0.0.1");
	await once(socket, "connect");
	onTestFinished(() => void socket.destroy());
	return socket;
}

/** A connection that stays open: HTTP/1.1 by hand. */
class Wire {
	received = "";
	sentBytes = 0;
	/** The code of the error that ends it. */
	readonly broken: Promise<string>;
	private readonly socket: Socket;

	constructor(socket: Socket) {
		this.socket = socket;
		socket.setEncoding("utf8").on("data", (text: string) => {
			this.received += text;
		});
		this.broken = new Promise((resolve) => {
			socket.on("error", (error: NodeJS.ErrnoException) =>
				resolve(error.code ?? error.message),
			);
		});
	}

	ask(): void {
		const request = "GET /version HTTP/1.1\r\nHost: etcd\r\n\r\n";
		this.sentBytes += request.length;
		this.socket.write(request);
	}

	get count(): number {
		return this.received.split("HTTP/1.1 200 OK").length - 1;
	}

	async answers(count: number): Promise<void> {
		await waitFor(`${count} answers`, () => this.count === count);
	}
}

/** Puts a key on a connection of its own; true when that was answered. */
async function putThrough(proxy: TcpProxy, key: string): Promise<boolean> {
	const gateway = new EtcdGateway(`http://${proxy.endpoint}`, undefined);
	await etcdPut(gateway, key, "1");
	return true;
}
