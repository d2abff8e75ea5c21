import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { backgroundClock } from "../../../../src/base/clock.js";
import { Sockets } from "../../../../src/store/etcd/sockets.js";

test("a socket that a closed connection's own timer opens is closed, also after another connection works", async () => {
	const server = createServer().listen(0, "127.0.0.1");
	onTestFinished(() => void server.close());
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	const [old, next] = [
		new Sockets(backgroundClock),
		new Sockets(backgroundClock),
	];
	let connectLate = () => {};
	const waits = new Promise<void>((resolve) => {
		connectLate = resolve;
	});
	const late = old.within(async () => {
		await waits;
		return connect(port, "127.0.0.1");
	});
	await new Promise<void>((resolve) => old.destroyAll(resolve));
	next.within(() => {});
	next.confirm();
	connectLate();
	const socket = await late;
	await once(socket, "close");
	expect(old.opened).toBe(1);
});
