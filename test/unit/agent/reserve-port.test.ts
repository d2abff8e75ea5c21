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
const of = (round: number, node = "r/1/a") => ({ node, round });
const groupOf = (port: number) => Math.floor((port - 10_000) / 160);
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
		const socket = connect(await ports.reserve(of(1)), "127.0.0.1");
		const [error] = await once(socket, "error");
		expect(error).toMatchObject({ code: "ECONNREFUSED" });
	});

	it("is refused to who asks for it by number, but not to servers: those reuse addresses", async (context) => {
		needPython(context);
		const port = await ports.reserve(of(1));
		expect(bindInPython(port, false)).toBe("EADDRINUSE");
		expect(bindInPython(port, true)).toBe("bound");
		const server = createServer().listen(port, address);
		await once(server, "listening");
		server.close();
	});

	it("is one that no outgoing connection is given, and none that is taken", async () => {
		const chance = Math.random();
		const turns = [chance, chance];
		const draw = () => turns.shift() ?? Math.random();
		const other = new PortReservation(address, draw, refuse);
		const first = await other.reserve(of(1));
		other.release();
		const taken = createServer().listen(first, address);
		await once(taken, "listening");
		const second = await other.reserve(of(1));
		expect(second).not.toBe(first);
		for (const port of [first, second]) {
			expect(port).toBeGreaterThanOrEqual(10_000);
			expect(port).toBeLessThan(30_000);
		}
		other.close();
		taken.close();
	});

	it("is none of the last hundred, whatever chance says, also if the agent was started again", async () => {
		const chance = Math.random();
		const claimed: number[] = [];
		for (const rounds of [50, 51]) {
			const agent = new PortReservation(address, () => chance, refuse);
			for (let claim = 0; claim < rounds; claim += 1) {
				if (claim % 2 === 1) agent.prepare();
				claimed.push(await agent.reserve(of(claimed.length)));
			}
			agent.close();
		}
		expect(new Set(claimed).size).toBe(101);
	});

	it("is not the one that was bound ahead if rounds were left out, and that one is free", async () => {
		const before = openFiles();
		await ports.reserve(of(1));
		const one = openFiles() - before;
		ports.prepare();
		await waitFor("both", () => openFiles() - before === 2 * one);
		const third = await ports.reserve(of(3));
		await waitFor("one", () => openFiles() - before === one);
		const alone = new PortReservation(address, Math.random, refuse);
		expect(groupOf(await alone.reserve(of(3)))).toBe(groupOf(third));
		alone.close();
	});

	it("is free, with the one that was bound ahead, once there are no more claims", async () => {
		const before = openFiles();
		await ports.reserve(of(1));
		const one = openFiles() - before;
		ports.prepare();
		await waitFor("both", () => openFiles() - before === 2 * one);
		ports.close();
		await waitFor("none", () => openFiles() === before);
	});
});

it("is one of any address where the given one is not of this machine", async () => {
	const ports = new PortReservation("192.0.2.1", Math.random, refuse);
	expect(await ports.reserve(of(1))).toBeGreaterThan(0);
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
		const port = await ports.reserve(of(1));
		const again = createServer();
		again.listen(port);
		const [error] = await once(again, "error");
		expect(error).toMatchObject({ code: "EADDRINUSE" });
	});

	it("is tried again, and told of once until there is one", async () => {
		const shortage = failWith("EMFILE");
		await expect(ports.reserve(of(1))).rejects.toBeInstanceOf(PassingError);
		await expect(ports.reserve(of(1))).rejects.toThrow(
			"no port can be bound for MASTER_PORT, which is tried again: listen EMFILE; if it lasts, raise ulimit -n",
		);
		expect(warnings).toHaveLength(1);
		shortage.mockRestore();
		await ports.reserve(of(1));
		failWith("ENFILE");
		await expect(ports.reserve(of(1))).rejects.toThrow("raise fs.file-max");
		expect(warnings).toHaveLength(2);
	});

	it("is given up where that is forbidden: it will not pass", async () => {
		failWith("EPERM");
		await expect(ports.reserve(of(1))).rejects.not.toBeInstanceOf(PassingError);
		await expect(ports.reserve(of(1))).rejects.toMatchObject({ code: "EPERM" });
		expect(warnings).toEqual([]);
	});
});
