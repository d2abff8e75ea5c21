import { once } from "node:events";
import { connect, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PortReservation } from "../../../src/agent/reserve-port.js";

describe.each([
	"::",
	"127.0.0.1",
])("a port that is reserved on %s", (address) => {
	let ports: PortReservation;

	beforeEach(() => {
		ports = new PortReservation(address);
	});

	afterEach(() => ports.release());

	it("refuses who connects before rank 0 listens", async () => {
		const socket = connect(await ports.reserve(), "127.0.0.1");
		const [error] = await once(socket, "error");
		expect(error).toMatchObject({ code: "ECONNREFUSED" });
	});

	it("can be listened on as soon as it is released", async () => {
		const port = await ports.reserve();
		ports.release();
		const server = createServer().listen(port, address);
		await once(server, "listening");
		server.close();
	});

	it("is another one for each claim, and the one before is free", async () => {
		const before = await ports.reserve();
		expect(await ports.reserve()).not.toBe(before);
		const server = createServer().listen(before, address);
		await once(server, "listening");
		server.close();
	});
});

it("is one of any address where the given one is not of this machine", async () => {
	const ports = new PortReservation("192.0.2.1");
	expect(await ports.reserve()).toBeGreaterThan(0);
	ports.release();
});
