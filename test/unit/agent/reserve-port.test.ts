import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, createServer, Server, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PortReservation } from "../../../src/agent/workers/reserve-port.js";
import { PassingError } from "../../../src/base/back-off.js";
import { needPython, PYTHON } from "../../fixtures/python/start-python.js";
import { waitFor } from "../../helpers/processes.js";

/** Listens on the port, on all addresses; Node.js would always set SO_REUSEADDR. */
function bindInPython(port: number, reuse: boolean): string {
	const program = [
		"import errno, socket, sys",
		"listener = socket.socket()",
		`listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, ${Number(reuse)})`,
		"try:",
		`    listener.bind(("0.0.0.0", ${port}))`,
		"    listener.listen()",
		'    print("bound")',
		"except OSError as error:",
		"    print(errno.errorcode[error.errno])",
	].join("\n");
	const { stdout } = spawnSync(PYTHON, ["-c", program], { encoding: "utf8" });
	return stdout.trim();
}

/** Nothing is to be warned of. */
const refuse = (message: string) => {
	throw new Error(message);
};
const openFiles = () => readdirSync("/proc/self/fd").length;

describe.each([
	"::",
	"127.0.0.1",
])("a port that is reserved on %s", (address) => {
	let ports: PortReservation;

	beforeEach(() => {
		ports = new PortReservation(address, Math.random, refuse);
	});

	afterEach(() => ports.close());

	it("refuses who connects before rank 0 listens", async () => {
		const socket = connect(await ports.reserve(), "127.0.0.1");
		const [error] = await once(socket, "error");
		expect(error).toMatchObject({ code: "ECONNREFUSED" });
	});

	it("is refused to who asks for it by number, but not to servers: those reuse addresses", async (context) => {
		needPython(context);
		const port = await ports.reserve();
		expect(bindInPython(port, false)).toBe("EADDRINUSE");
		expect(bindInPython(port, true)).toBe("bound");
		const server = createServer().listen(port, address);
		await once(server, "listening");
		server.close();
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
			refuse,
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

	it("is none of the last hundred, whatever chance says", async () => {
		const chance = Math.random();
		// Each port is drawn again before another one.
		const drawn = Array.from({ length: 101 }, (_, index) => {
			const other = (chance + index / 101) % 1;
			return index === 0 ? [chance] : [chance, other];
		}).flat();
		let at = 0;
		const other = new PortReservation(
			address,
			() => drawn[at++] ?? chance,
			refuse,
		);
		const claimed: number[] = [];
		for (let round = 0; round < 101; round += 1) {
			if (round % 2 === 1) other.prepare();
			claimed.push(await other.reserve());
		}
		expect(new Set(claimed).size).toBe(101);
		other.close();
	});

	it("is none of the last hundred where the system chooses, either", async () => {
		const other = new PortReservation(address, () => 0.5, refuse);
		const claimed: number[] = [];
		for (let round = 0; round < 50; round += 1) {
			claimed.push(await other.reserve());
		}
		expect(new Set(claimed).size).toBe(50);
		other.close();
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
	const ports = new PortReservation("192.0.2.1", Math.random, refuse);
	expect(await ports.reserve()).toBeGreaterThan(0);
	ports.release();
});

describe("a port on a machine that is short of something", () => {
	let warnings: string[];
	let ports: PortReservation;

	beforeEach(() => {
		warnings = [];
		ports = new PortReservation("127.0.0.1", Math.random, (message) =>
			warnings.push(message),
		);
	});

	afterEach(() => {
		vi.restoreAllMocks();
		ports.close();
	});

	/** From now on nothing can be listened on. */
	const failWith = (code: string) =>
		vi.spyOn(Server.prototype, "listen").mockImplementation(function (
			this: Server,
		) {
			const error = Object.assign(new Error(`listen ${code}`), { code });
			queueMicrotask(() => this.emit("error", error));
			return this;
		});

	it("is bound again where it could not be bound ahead", async () => {
		const shortage = failWith("EMFILE");
		ports.prepare();
		await vi.waitFor(() => expect(shortage).toHaveBeenCalledTimes(3));
		shortage.mockRestore();
		expect(await ports.reserve()).toBeGreaterThan(0);
		expect(warnings).toEqual([]);
	});

	it("is listened on where its own connection is cut, as without a descriptor to accept it", async () => {
		const emit = Server.prototype.emit;
		vi.spyOn(Server.prototype, "emit").mockImplementation(function (
			this: Server,
			...given: unknown[]
		) {
			const [event, socket] = given;
			if (event !== "connection" || !(socket instanceof Socket)) {
				return Reflect.apply(emit, this, given);
			}
			socket.destroy();
			return true;
		});
		const port = await ports.reserve();
		const again = createServer();
		again.listen(port);
		const [error] = await once(again, "error");
		expect(error).toMatchObject({ code: "EADDRINUSE" });
	});

	it("is tried again, and told of once until there is one", async () => {
		const shortage = failWith("EMFILE");
		await expect(ports.reserve()).rejects.toBeInstanceOf(PassingError);
		await expect(ports.reserve()).rejects.toThrow(
			"no port can be bound for MASTER_PORT, which is tried again: listen EMFILE; if it lasts, raise ulimit -n",
		);
		expect(warnings).toHaveLength(1);
		shortage.mockRestore();
		await ports.reserve();
		failWith("ENFILE");
		await expect(ports.reserve()).rejects.toThrow("raise fs.file-max");
		expect(warnings).toHaveLength(2);
	});

	it("is given up where that is forbidden: it will not pass", async () => {
		failWith("EPERM");
		await expect(ports.reserve()).rejects.not.toBeInstanceOf(PassingError);
		await expect(ports.reserve()).rejects.toMatchObject({ code: "EPERM" });
		expect(warnings).toEqual([]);
	});
});
