import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { backgroundClock } from "../../src/base/clock.js";
import type { NoticesConfig } from "../../src/config/agent-config.js";
import { openNoticeSources } from "../../src/notices/open-notice-sources.js";
import {
	type HttpRequest,
	HttpTransport,
} from "../../src/notices/sources/http.js";
import { ec2 } from "../helpers/metadata-aws.js";
import { azure, azureEvent } from "../helpers/metadata-azure.js";
import { BROKEN } from "../helpers/metadata-broken.js";
import { gce } from "../helpers/metadata-gcp.js";
import { reply, serve } from "../helpers/metadata-server.js";
import { waitFor } from "../helpers/processes.js";

/** Opens sources in this process, at real servers. */
function listen(
	sources: NoticesConfig["sources"],
	environment: Readonly<Record<string, string>>,
) {
	const heard: string[] = [];
	const logged: string[] = [];
	const log = {
		info: (line: string) => void logged.push(line),
		warn: (line: string) => void logged.push(line),
	};
	const all = openNoticeSources(
		{
			...{ clock: backgroundClock, log, environment },
			startedAt: backgroundClock.wallTime(),
			notices: { sources, maxLifetimeMs: undefined, drainBeforeMs: 60_000 },
		},
		{
			noticed: ({ reason }) => heard.push(reason),
			advised: ({ reason }) => heard.push(`advice: ${reason}`),
			withdrawn: (_, reason) => heard.push(`withdrawn: ${reason}`),
		},
	);
	onTestFinished(() => all.close());
	return { heard, logged, all };
}

test("P1 AWS, found by itself: an interruption, also after its tokens were revoked", async () => {
	const server = await ec2();
	const { heard, logged } = listen("auto", {
		AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url,
	});
	const looks = () =>
		server.requests.filter(({ path }) => path.endsWith("instance-action"));
	await waitFor("a look", () => looks().length > 0);
	server.revoke();
	server.values.set(
		"spot/instance-action",
		'{"action":"stop","time":"2026-01-01T00:00:00Z"}',
	);
	await waitFor("the notice", () => heard.length > 0);
	expect(heard).toEqual(["spot interruption: stop"]);
	expect(logged).toEqual([]);
});

test("P1 Google Cloud, found by itself: a preemption comes at once, without polling", async () => {
	const server = await gce();
	const { heard, logged } = listen("auto", { GCE_METADATA_HOST: server.host });
	const kept = () => server.requests.filter(({ query }) => query.size > 1);
	await waitFor("both values to be waited for", () => kept().length === 2);
	server.set("instance/preempted", "TRUE");
	await waitFor("the notice", () => heard.length > 0);
	expect(heard).toEqual(["preempted"]);
	expect(logged).toEqual([]);
});

test("P1 Azure, found by itself: another machine's event, its own, its withdrawal, its acknowledgement", async () => {
	const server = await azure("gpu_3");
	const { heard, logged, all } = listen("auto", {
		ELASTIC_RUN_AZURE_METADATA_URL: `${server.url}/metadata`,
	});
	const other = azureEvent("Terminate", ["gpu_4"], 300_000);
	const own = azureEvent("Preempt", ["gpu_3"], 30_000);
	server.schedule(other);
	const seen = () => server.requests.length;
	await waitFor("a look", () => seen() > 3);
	expect(heard).toEqual([]);
	server.schedule(other, own);
	await waitFor("the notice", () => heard.length === 1);
	server.schedule(other);
	await waitFor("its withdrawal", () => heard.length === 2);
	server.schedule(other, own);
	await waitFor("the notice again", () => heard.length === 3);
	await all.left();
	expect(server.started).toEqual(["id-Preempt"]);
	expect(heard).toEqual([
		"scheduled event Preempt",
		"withdrawn: the scheduled event is gone",
		"scheduled event Preempt",
	]);
	expect(logged).toEqual([]);
});

for (const [behaviour, { open, words }] of Object.entries(BROKEN)) {
	test(`P1 a server that ${behaviour} is asked once, and said once`, async () => {
		const { url, host, requests } = await open();
		const found = listen("auto", {
			AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
			GCE_METADATA_HOST: host,
			ELASTIC_RUN_AZURE_METADATA_URL: url,
		});
		await waitFor("the lines", () => found.logged.length === 3);
		for (const cloud of ["AWS", "Google Cloud", "Azure"]) {
			expect(found.logged).toContainEqual(
				expect.stringMatching(
					new RegExp(`^notices of ${cloud} cannot be read: .*(${words})`),
				),
			);
		}
		expect(found.heard).toEqual([]);
		expect(requests).toHaveLength(3);
	});
}

test("P1 no server at all", async () => {
	const server = createServer();
	const port = await new Promise<number>((resolve) => {
		server.listen(0, "127.0.0.1", () => {
			const address = server.address();
			resolve(typeof address === "object" && address ? address.port : 0);
		});
	});
	await new Promise((resolve) => server.close(resolve));
	const { logged } = listen(["gcp"], {
		GCE_METADATA_HOST: `127.0.0.1:${port}`,
	});
	await waitFor("the lines", () => logged.length === 3);
	expect(logged[0]).toMatch(/^notices of Google Cloud.*ECONNREFUSED/);
});

test("P1 no proxy is asked, and a kept connection that was closed is opened again", async () => {
	const proxy = await serve((_, response) => reply(response, 500));
	const before = { ...process.env };
	const names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"];
	for (const name of names) process.env[name] = proxy.url;
	onTestFinished(() => {
		process.env = before;
	});
	let answers = 0;
	const server = await serve((_, response) => {
		answers += 1;
		if (answers === 2) response.socket?.resetAndDestroy();
		else reply(response, 200, "FALSE");
	});
	const transport = new HttpTransport(backgroundClock);
	onTestFinished(() => transport.close());
	for (const _ of [1, 2]) {
		const { body } = await transport.fetch(get(server.url, 5_000));
		expect(body).toBe("FALSE");
	}
	expect(answers).toBe(3);
	expect(proxy.requests).toEqual([]);
});

const get = (url: string, timeoutMs: number): HttpRequest => ({
	...{ method: "GET", url, headers: {}, timeoutMs },
});

/** A server that sends these bytes to each connection, and ends it or not. */
async function serveBytes(bytes: string, isEnded: boolean): Promise<string> {
	const server = createServer((socket) => {
		socket.on("error", () => {});
		socket.once("data", () =>
			isEnded ? socket.end(bytes) : socket.write(bytes),
		);
	});
	const port = await new Promise<number>((resolve) => {
		server.listen(0, "127.0.0.1", () => {
			const address = server.address();
			resolve(typeof address === "object" && address ? address.port : 0);
		});
	});
	onTestFinished(() => void server.close());
	return `http://127.0.0.1:${port}/`;
}

async function fetchBytes(bytes: string, isEnded: boolean): Promise<string> {
	const url = await serveBytes(bytes, isEnded);
	const transport = new HttpTransport(backgroundClock);
	onTestFinished(() => transport.close());
	return (await transport.fetch(get(url, 1_000))).body;
}

const OK = "HTTP/1.1 200 OK\r\n";

test.each([
	["SSH-2.0-OpenSSH\r\n\r\n", "Parse Error", false],
	[`${OK}\r\n${"x".repeat(300_000)}`, "more than 256 KiB", false],
	[`${OK}content-length: 5\r\n\r\nTRUE`, "aborted", true],
	[`${OK}content-length: 5\r\n\r\nTRUE`, "no answer within 1 s", false],
] as const)("P1 no answer: %.60j, %s", async (bytes, words, isEnded) => {
	await expect(fetchBytes(bytes, isEnded)).rejects.toThrow(words);
});
