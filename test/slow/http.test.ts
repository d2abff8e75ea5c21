import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { StatusDocument } from "../../src/http/status-document.js";
import { ask, askUntil, observedAt } from "../helpers/ask.js";
import { job, type Launch, openSite } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";

const TOKEN = "a-token-of-enough-characters";
const BEARER = { Authorization: `Bearer ${TOKEN}` };

const statusAt = async (url: string, headers = {}): Promise<StatusDocument> =>
	JSON.parse((await ask(`${url}/status`, { headers })).body);

/** A launcher of workers that obey, observed on a free port. */
async function observed(
	site: ReturnType<typeof openSite>,
	args: readonly string[] = [],
	env: Readonly<Record<string, string>> = {},
) {
	const words = ["--http", ":0", ...args, job("obeys.sh")];
	const launch = site.launch(words, { env });
	const url = await observedAt(launch);
	return { launch, url };
}

async function ended(launch: Launch, exitCode: number): Promise<string> {
	const end = await launch.ended;
	expect(end.exitCode, end.stderr).toBe(exitCode);
	return end.stderr;
}

describe("a node on one machine", () => {
	it("tells by each route what it is, and ends as without being observed", async () => {
		const site = openSite();
		const { launch, url } = await observed(site, ["--nproc-per-node", "2"]);
		const workers = await site.sawWorkers(2);
		const ready = await askUntil(
			`${url}/readyz`,
			({ status }) => status === 200,
		);
		expect(ready.body).toBe("ready: round 1 runs: ranks 0-1 of 2, on 1 node\n");
		expect(await ask(`${url}/healthz`)).toMatchObject({
			status: 200,
			body: "ok\n",
		});
		const head = await ask(`${url}/healthz`, { method: "HEAD" });
		expect(head).toMatchObject({ status: 200, body: "" });
		const page = await ask(`${url}/`);
		expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
		const isSettled = ({ body }: { readonly body: string }) =>
			JSON.parse(body).run?.nodes[0]?.state === "running";
		const settled = await askUntil(`${url}/status`, isSettled);
		const status: StatusDocument = JSON.parse(settled.body);
		const own = await site.launch(["status", "--output", "json"]).ended;
		expect(JSON.parse(own.stdout).runs).toHaveLength(1);
		const { runId = "" } = status.run ?? {};
		const told = await site.launch(["status", runId, "--output", "json"]).ended;
		expect({ ...status.run, links: [] }).toEqual(JSON.parse(told.stdout));
		const past = await site.launch(["history", runId, "--output", "json"])
			.ended;
		expect(Object.keys(status.history ?? {})).toEqual(
			Object.keys(JSON.parse(past.stdout)),
		);
		expect(status).toMatchObject({
			...{ version: 1, control: false, problem: null },
			node: {
				...{
					nodeId: "node-a",
					pid: launch.pid,
					phase: "RUNNING",
					waitsFor: null,
				},
				workers: workers.map(({ pid }, rank) => ({
					...{ localRank: rank, rank, pid, role: "default", state: "running" },
				})),
			},
			timeline: { nodes: [{ nodeId: "node-a" }] },
		});
		for (const worker of workers) tell(worker, 0);
		await ended(launch, 0);
		await site.isSwept();
	});
});

describe("who asks", () => {
	it("by another name is not answered, nor by another method", async () => {
		const site = openSite();
		const { launch, url } = await observed(site);
		const [worker] = await site.sawWorkers(1);
		const Host = "evil.example";
		for (const path of ["/", "/status", "/metrics", "/healthz"]) {
			const answer = await ask(url + path, { headers: { Host } });
			expect(answer).toMatchObject({ status: 421 });
			expect(answer.body).toContain("this server is not evil.example");
		}
		const tunnel = { headers: { Host: "localhost:9000" } };
		expect(await ask(`${url}/healthz`, tunnel)).toMatchObject({ status: 200 });
		const put = await ask(`${url}/status`, { method: "PUT" });
		expect(put).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
		expect(await ask(`${url}/../etc/passwd`)).toMatchObject({ status: 404 });
		for (const path of ["/leave", "/stop"]) {
			const answer = await ask(url + path, { method: "POST", headers: BEARER });
			expect(answer.status).toBe(403);
			expect(answer.body).toContain("start it with --http-token-file");
			expect(await ask(url + path)).toMatchObject({ status: 405 });
		}
		if (worker) tell(worker, 0);
		await ended(launch, 0);
	});

	it("shows the token, which workers and logs do not get to know", async () => {
		const site = openSite();
		const { launch, url } = await observed(site, [], {
			ELASTIC_RUN_HTTP_TOKEN: TOKEN,
		});
		const [worker] = await site.sawWorkers(1);
		await askUntil(`${url}/readyz`, ({ status }) => status === 200);
		const probe = await ask(`${url}/readyz`);
		expect(probe).toMatchObject({ status: 200, body: "ready\n" });
		for (const path of ["/", "/status", "/metrics"]) {
			expect(await ask(url + path)).toMatchObject({ status: 401 });
			const wrong = { Authorization: `Bearer ${TOKEN}x` };
			expect(await ask(url + path, { headers: wrong })).toMatchObject({
				status: 401,
			});
			expect(await ask(url + path, { headers: BEARER })).toMatchObject({
				status: 200,
			});
		}
		expect((await statusAt(url, BEARER)).control).toBe(true);

		const hello = await ask(`${url}/?token=${TOKEN}`);
		expect(hello).toMatchObject({ status: 303, headers: { location: "/" } });
		const [cookie = ""] = String(hello.headers["set-cookie"]).split(";");
		const headers = { Cookie: cookie };
		expect(await ask(`${url}/`, { headers })).toMatchObject({ status: 200 });
		const forged = await ask(`${url}/stop`, { method: "POST", headers });
		expect(forged.status).toBe(401);

		expect(JSON.stringify(worker?.env)).not.toContain(TOKEN);
		if (worker) tell(worker, 0);
		expect(await ended(launch, 0)).not.toContain(TOKEN);
	});
});

describe("with the token", () => {
	it("POST /stop ends the run, as elastic-run stop does", async () => {
		const site = openSite();
		const { launch, url } = await observed(site, [], {
			ELASTIC_RUN_HTTP_TOKEN: TOKEN,
		});
		await site.sawWorkers(1);
		const answer = await ask(`${url}/stop`, {
			method: "POST",
			headers: BEARER,
		});
		expect(answer.status).toBe(202);
		expect(JSON.parse(answer.body)).toMatchObject({
			...{
				version: 1,
				outcome: { result: "stopped", reason: "POST /stop on node-a" },
			},
		});
		expect(await ended(launch, 5)).toContain("POST /stop on node-a");
		await site.isSwept();
	});
});

describe("the run", () => {
	it("is refused with 2 where the address cannot be had, and leaves nothing", async () => {
		const site = openSite();
		const taken = createServer().listen(0, "127.0.0.1");
		onTestFinished(() => void taken.close());
		await once(taken, "listening");
		const address = taken.address();
		const port = typeof address === "object" ? address?.port : 0;
		const cases: readonly (readonly [string, RegExp])[] = [
			[
				`:${port}`,
				/--http 127\.0\.0\.1:\d+: the port is in use, .* port 0 for a free one/,
			],
			["0.0.0.0:0", /--http: 0\.0\.0\.0:0: other machines can reach it/],
		];
		for (const [where, words] of cases) {
			const launch = site.launch(["--http", where, job("obeys.sh")]);
			expect(await ended(launch, 2)).toMatch(words);
		}
		const env = { ELASTIC_RUN_HTTP_TOKEN: TOKEN };
		// Of the addresses for documentation: nobody's.
		const elsewhere = site.launch(["--http", "192.0.2.1:0", job("obeys.sh")], {
			env,
		});
		expect(await ended(elsewhere, 2)).toContain("no such address");
		expect(site.workers()).toEqual([]);
		expect(site.channelDirectories()).toEqual([]);
		expect(existsSync(site.logs)).toBe(false);
	});
});
