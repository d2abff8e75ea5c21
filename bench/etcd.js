import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findEtcd, HOW_TO_GET_ETCD, versionOf } from "../scripts/find-etcd.js";
import { processorMs } from "./processes.js";

const STARTS_WITHIN_MS = 30_000;
const BYTES = {
	received: "etcd_network_client_grpc_received_bytes_total",
	sent: "etcd_network_client_grpc_sent_bytes_total",
};

/** An etcd of the bench's own, as it runs by default, with its data below a directory; it ends with the bench. */
export class Etcd {
	endpoint;
	#process;
	#directory;

	/** @param {string} scratch */
	static async start(scratch) {
		const etcd = new Etcd();
		await etcd.#start(scratch);
		return etcd;
	}

	/** Processor time that it has used, in milliseconds. */
	get processorMs() {
		return processorMs(this.#process.pid);
	}

	/** @returns {Promise<{ received: number, sent: number }>} bytes of clients, since it started */
	async traffic() {
		const text = await this.#metrics();
		const figureOf = (name) =>
			Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
		return { received: figureOf(BYTES.received), sent: figureOf(BYTES.sent) };
	}

	/** How many watches it has. */
	async watchers() {
		const text = await this.#metrics();
		return Number(/^etcd_debugging_mvcc_watcher_total (\S+)$/m.exec(text)?.[1]);
	}

	async stop() {
		process.off("exit", this.#kill);
		const ended = once(this.#process, "exit");
		this.#kill();
		await ended;
		rmSync(this.#directory, { recursive: true, force: true });
	}

	async #start(scratch) {
		const program = findEtcd();
		if (program === undefined) throw new Error(HOW_TO_GET_ETCD);
		this.#directory = mkdtempSync(join(scratch, "etcd-"));
		const [client, peer] = [await freePort(), await freePort()];
		this.endpoint = `127.0.0.1:${client}`;
		const [here, there] = [client, peer].map(
			(port) => `http://127.0.0.1:${port}`,
		);
		this.#process = spawn(
			program,
			[
				...["--data-dir", this.#directory],
				...["--listen-client-urls", here, "--advertise-client-urls", here],
				...["--listen-peer-urls", there],
				...["--initial-advertise-peer-urls", there],
				...["--initial-cluster", `default=${there}`],
			],
			{
				env: { ETCD_UNSUPPORTED_ARCH: process.arch },
				stdio: "ignore",
			},
		);
		process.prependListener("exit", this.#kill);
		await this.#answers();
	}

	async #metrics() {
		const answer = await fetch(`http://${this.endpoint}/metrics`);
		return answer.text();
	}

	#kill = () => {
		this.#process.kill("SIGKILL");
	};

	async #answers() {
		const until = performance.now() + STARTS_WITHIN_MS;
		while (performance.now() < until) {
			const answer = await fetch(`http://${this.endpoint}/health`).catch(
				() => undefined,
			);
			if (answer?.ok) return;
			await sleep(20);
		}
		throw new Error(`etcd did not start within ${STARTS_WITHIN_MS / 1_000} s`);
	}
}

/** @returns {string | undefined} why none can be started */
export function whyNoEtcd() {
	return findEtcd() === undefined
		? `there is no etcd: ${HOW_TO_GET_ETCD}`
		: undefined;
}

/** @returns {string | null} */
export function etcdVersion() {
	const program = findEtcd();
	return (program && versionOf(program)) ?? null;
}

/** A port of 127.0.0.1 that nobody has at this moment. */
export async function freePort() {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = /** @type {import("node:net").AddressInfo} */ (
		server.address()
	);
	server.close();
	await once(server, "close");
	return port;
}
