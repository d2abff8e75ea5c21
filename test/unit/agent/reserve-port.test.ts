import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PortReservation } from "../../../src/agent/reserve-port.js";
import { waitFor } from "../../helpers/processes.js";

const openFiles = () => readdirSync("/proc/self/fd").length;

describe.each([
	"::",
	"127.0.0.1",
])("a port that is reserved on %s", (address) => {
	let ports: PortReservation;

	beforeEach(() => {
		ports = new PortReservation(address, Math.random);
	});

	afterEach(() => ports.close());

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

	it("is one that no outgoing connection is given, and none that is taken", async () => {
		const chance = Math.random();
		const turns = [chance, chance];
		const other = new PortReservation(
			address,
			() => turns.shift() ?? Math.random(),
		);
		const first = await other.reserve();
		other.release();
		const taken = createServer().listen(first, address);
		await once(taken, "listening");
		const second = await other.reserve();
		expect(second).not.toBe(first);
		for (const port of [first, second]) {
			expect(port).toBeGreaterThanOrEqual(10_000);
			expect(port).toBeLessThan(30_000);
		}
		other.close();
		taken.close();
	});

	it("is another one for each claim, and the one before is free", async () => {
		const before = await ports.reserve();
		expect(await ports.reserve()).not.toBe(before);
		const server = createServer().listen(before, address);
		await once(server, "listening");
		server.close();
	});

	it("can be bound ahead, and is kept while the one before is freed", async () => {
		const before = await ports.reserve();
		ports.prepare();
		ports.release();
		const next = await ports.reserve();
		expect(next).not.toBe(before);
		const socket = connect(next, "127.0.0.1");
		const [error] = await once(socket, "error");
		expect(error).toMatchObject({ code: "ECONNREFUSED" });
	});

	it("is free, with the one that was bound ahead, once there are no more claims", async () => {
		const before = openFiles();
		await ports.reserve();
		const one = openFiles() - before;
		ports.prepare();
		await waitFor("both", () => openFiles() - before === 2 * one);
		ports.close();
		await waitFor("none", () => openFiles() === before);
	});
});

it("is one of any address where the given one is not of this machine", async () => {
	const ports = new PortReservation("192.0.2.1", Math.random);
	expect(await ports.reserve()).toBeGreaterThan(0);
	ports.release();
});
