import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { pause } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import { startFixture, startProcess } from "../fixtures/checkpoint-process.js";
import type { EtcdUserTask } from "../fixtures/etcd-user.js";
import { bundled } from "../helpers/bundled.js";
import { etcdForAll, etcdGet, startEtcd } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { freePort } from "../helpers/free-port.js";
import { openFilesOf } from "../helpers/open-files.js";
import { signalProcess, waitFor } from "../helpers/processes.js";
import { together } from "../helpers/together.js";

/** One may be open at one moment and not at the other; one that is left behind each time makes more. */
const SPARE_SOCKETS = 2;

const etcd = etcdForAll();

const start = (task: EtcdUserTask) => startFixture("etcd-user.ts", task);

const linesOf = ({ stdout }: ReturnType<typeof start>) =>
	stdout().split("\n").slice(0, -1);

/** How many sockets a process has open. */
function socketsOf(pid: number): number {
	return openFilesOf(pid).filter((file) => file.startsWith("socket:")).length;
}

/** A port on which connections are neither accepted nor refused: a packet filter looks like this. */
async function filteredEndpoint(): Promise<string> {
	const listener = start({ kind: "deaf" });
	const port = await waitFor("its port", () => linesOf(listener)[0]);
	let connected = 0;
	const sockets = Array.from({ length: 4 }, () =>
		connect(Number(port), "127.0.0.1", () => {
			connected += 1;
		}).on("error", () => {}),
	);
	onTestFinished(() => {
		for (const socket of sockets) socket.destroy();
	});
	await waitFor("the queue to be full", () => connected >= 2);
	return `127.0.0.1:${port}`;
}

describe("a process that uses the store", () => {
	test("ends by itself when it has closed it, and has printed nothing", async () => {
		const user = start({ kind: "use", endpoint: etcd().endpoint });
		expect(await user.ended).toBe(0);
		expect(linesOf(user)).toEqual(["closed"]);
		expect(user.stderr()).toBe("");
	});

	test("prints no warning of Node's where the server of TLS is an address", async () => {
		const { endpoint, certificates } = await startEtcd({ tls: "server" });
		const caFile = certificates?.cacert ?? "";
		const user = start({ kind: "use", endpoint, caFile });
		expect(await user.ended).toBe(0);
		expect(user.stderr()).toBe("");
	});

	test("goes straight to etcd where its environment names a proxy for HTTP", async () => {
		const nowhere = `http://127.0.0.1:${await freePort()}`;
		const file = fileURLToPath(
			new URL("../fixtures/etcd-user.ts", import.meta.url),
		);
		const task = { kind: "use", endpoint: etcd().endpoint };
		const user = startProcess([bundled(file), JSON.stringify(task)], {
			...process.env,
			http_proxy: nowhere,
			grpc_proxy: nowhere,
		});
		expect(await user.ended).toBe(0);
		expect(linesOf(user)).toEqual(["closed"]);
	});

	test("fences first when its lease has ended meanwhile, and is told once that it is lost", () => {
		const hold = {
			kind: "hold",
			endpoint: etcd().endpoint,
			ttlMs: 2_000,
		} as const;
		const fencesFirst = async (user: ReturnType<typeof start>) => {
			await waitFor("both", () => linesOf(user).length >= 3);
			// Another keepalive, and what a second loop would say, would come by now.
			await pause(systemClock, 1_000);
			expect(linesOf(user)).toEqual([
				"held",
				expect.stringContaining(
					"fenced: this node's lease was not confirmed for",
				),
				"lost: etcd says that the lease has ended",
			]);
		};
		return together({
			"it was frozen": async () => {
				const key = "/elastic-run/process/frozen";
				const user = start({ ...hold, key });
				await waitFor("the lease", () => linesOf(user).includes("held"));
				signalProcess(user.pid, "SIGSTOP");
				await poll("the end of its key", 60_000, async () =>
					(await etcdGet(etcd(), key)) ? undefined : true,
				);
				signalProcess(user.pid, "SIGCONT");
				await fencesFirst(user);
			},
			"its event loop stood still": () =>
				fencesFirst(
					start({ ...hold, key: "/elastic-run/process/still", blockMs: 4_000 }),
				),
		});
	});
});

describe("a store that does not answer", () => {
	test("fails each call in time on a filtered port, leaves no sockets, and lets the process end", async () => {
		const endpoint = await filteredEndpoint();
		const user = start({ kind: "call", endpoint, times: 7 });
		await waitFor("a first failure", () => linesOf(user).length >= 1);
		const sockets = socketsOf(user.pid);
		await waitFor("more failures", () => linesOf(user).length >= 6);
		expect(socketsOf(user.pid)).toBeLessThanOrEqual(sockets + SPARE_SOCKETS);
		expect(await user.ended).toBe(0);
		expect(linesOf(user)).toEqual([
			...Array(7).fill(expect.stringContaining("no answer within 1 s")),
			"settled",
			"closed",
		]);
		expect(user.stderr()).toBe("");
	});
});
