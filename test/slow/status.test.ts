import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import type { RunDocument } from "../../src/status/run-document.js";
import { etcdForAll } from "../helpers/etcd.js";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";
import { onTestFinished, sideBySide } from "../helpers/this-test.js";

/** What `status` prints as JSON of a run, with its exit code. */
async function ask(site: LaunchSite, args: readonly string[]) {
	const { ended } = site.launch(["status", ...args, "--output", "json"]);
	const { exitCode, stdout, stderr } = await ended;
	const answer: (RunDocument & { place: string }) | undefined =
		stdout === "" ? undefined : JSON.parse(stdout);
	return { exitCode, stderr, answer };
}

/** Asks again until the answer is as wanted. */
async function askUntil(
	site: LaunchSite,
	args: readonly string[],
	isWanted: (status: RunDocument) => boolean,
): Promise<RunDocument & { place: string }> {
	let seen: (RunDocument & { place: string }) | undefined;
	let asking = false;
	return waitFor(`status ${args.join(" ")}`, () => {
		if (seen !== undefined && isWanted(seen)) return seen;
		if (!asking) {
			asking = true;
			void ask(site, args).then(({ answer }) => {
				seen = answer;
				asking = false;
			});
		}
		return undefined;
	});
}

sideBySide();

describe("status that cannot be told", { concurrent: true }, () => {
	it("ends with 4 where somebody listens who never answers", async () => {
		const mute = createServer((socket) => socket.on("error", () => {}));
		await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
		onTestFinished(() => void mute.close());
		const address = mute.address();
		if (address === null || typeof address === "string") throw new Error("?");
		const { exitCode } = await ask(openSite(), [
			...["one", "--rdzv-endpoint", `127.0.0.1:${address.port}`],
		]);
		expect(exitCode).toBe(4);
	});
});

describe("status of a run in etcd", { concurrent: true }, () => {
	const etcd = etcdForAll();

	it("J21: shows all nodes, who is waited for below MIN, and the run when it has ended", async () => {
		const site = openSite();
		const at = ["--rdzv-endpoint", etcd().endpoint];
		const launch = (nodeId: string, ...args: string[]) =>
			site.launch([
				...[...at, "--nnodes", "2", "--run-id", "four", "--node-id", nodeId],
				...["--nproc-per-node", "2", ...args, job("obeys.sh")],
			]);
		const a = launch("node-a", "--role", "reader");
		await a.saw(
			"stderr",
			"waiting for 1 more node (at least 2): node-a is here; ",
		);
		const forming = await askUntil(
			site,
			["four", ...at],
			({ waiting }) => typeof waiting?.until === "number",
		);
		expect(forming).toMatchObject({
			...{ phase: "forming", round: 0, coordinator: "node-a" },
			waiting: {
				words: expect.stringMatching(
					/^waiting for 1 more node \(at least 2\): node-a is here; \d+ s left$/,
				),
				needed: 1,
			},
			nodes: [{ nodeId: "node-a", state: "ready", pid: a.pid }],
		});
		const b = launch("node-b");
		await site.sawWorkers(4);
		for (const launch of [a, b]) {
			await launch.saw("stderr", "started 2 of 4 workers");
		}
		const running = await askUntil(site, ["four", ...at], ({ nodes }) =>
			nodes.every(({ state }) => state === "running"),
		);
		expect(running).toMatchObject({
			...{ phase: "running", round: 1, place: etcd().endpoint, waiting: null },
			world: { worldSize: 4 },
			nodes: [
				{ nodeId: "node-a", role: "reader", ranks: [0, 1], pid: a.pid },
				{ nodeId: "node-b", role: "default", ranks: [2, 3], pid: b.pid },
			],
		});
		const pids = running.nodes.flatMap(({ workerPids }) => workerPids);
		expect(pids).toEqual(site.workers().map(({ pid }) => pid));
		b.signal("SIGTERM");
		await b.ended;
		const waiting = await askUntil(
			site,
			["four", ...at],
			({ phase }) => phase === "waiting",
		);
		expect(waiting).toMatchObject({
			waiting: { needed: 1, missing: ["node-b"] },
			incidents: 0,
			nodes: [{ nodeId: "node-a" }, { nodeId: "node-b", state: "gone" }],
		});
		a.signal("SIGTERM");
		await a.ended;
		const { answer } = await ask(site, ["four", ...at]);
		expect(answer).toMatchObject({ phase: "abandoned", coordinator: null });
	});
});
