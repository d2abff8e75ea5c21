import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { type HttpRequest, words } from "../../../src/http/answer.js";
import { openServer, type ServerOptions } from "../../../src/http/server.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const isProbe = (path: string) => path === "/healthz";

/** A server on a free port, on a clock that stands still until it is moved. */
async function open(answer: ServerOptions["answer"]) {
	const clock = new VirtualClock();
	const errors: unknown[] = [];
	const server = await openServer({
		...{ address: { host: "127.0.0.1", port: 0 }, clock, answer, isProbe },
		onError: (error) => errors.push(error),
	});
	onTestFinished(() => server.close());
	return { clock, errors, server };
}

async function connected(port: number): Promise<Socket> {
	const socket = connect({ port, host: "127.0.0.1" });
	onTestFinished(() => void socket.destroy());
	await once(socket, "connect");
	return socket;
}

/** Sends a text as it is; what comes back until the server has closed the connection. */
async function send(port: number, request: string): Promise<string> {
	const socket = await connected(port);
	socket.write(request);
	return text(socket);
}

function get(path: string): string {
	return `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
}

test("a request is taken apart, and every answer has the headers that guard a browser", async () => {
	const seen: HttpRequest[] = [];
	const { server } = await open(async (asked) => {
		seen.push(asked);
		return words(200, "hello");
	});
	const response = await send(
		server.port,
		"GET /a?b=c&d=%20 HTTP/1.1\r\nHost: h:1\r\nAuthorization: Bearer t\r\nCookie: e=f\r\n\r\n",
	);
	expect(seen).toMatchObject([
		{
			...{ method: "GET", path: "/a", host: "h:1", length: 0 },
			...{ authorization: "Bearer t", cookie: "e=f" },
		},
	]);
	expect(seen[0]?.query.get("d")).toBe(" ");
	expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
	expect(response).toMatch(/\r\n\r\nhello\n$/);
	for (const header of [
		"Cache-Control: no-store",
		"Content-Security-Policy: default-src 'none'; script-src 'self';",
		"X-Content-Type-Options: nosniff",
		"Referrer-Policy: no-referrer",
		"Connection: close",
	]) {
		expect(response).toContain(header);
	}
	expect(response).not.toMatch(/access-control|unsafe-inline/i);
});

test("an error is said once, as 500 without its words, and the next request is answered", async () => {
	let isBroken = true;
	const { server, errors } = await open(async () => {
		if (isBroken) throw new Error("a secret of the inside");
		return words(200, "hello");
	});
	const request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
	const response = await send(server.port, request);
	expect(response).toMatch(/^HTTP\/1\.1 500 /);
	expect(response).not.toContain("secret");
	expect(errors).toHaveLength(1);
	isBroken = false;
	expect(await send(server.port, request)).toMatch(/^HTTP\/1\.1 200 /);
});

test("who connects and says nothing, or little by little, is cut off after 3 s", async () => {
	const { server, clock } = await open(async () => words(200, "hello"));
	const silent = await connected(server.port);
	const slow = await connected(server.port);
	slow.write("GET / HTTP/1.1\r\nHost: h\r\nX-A: ");
	// It has come in when another one after it is answered.
	await send(server.port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
	await clock.advance(2_000);
	slow.write("and more");
	expect(silent.readableEnded).toBe(false);
	const ends = [silent, slow].map((socket) => text(socket).catch(() => ""));
	await clock.advance(1_000);
	expect(await Promise.all(ends)).toEqual(["", ""]);
});

test("there is no timer while nobody is connected", async () => {
	const { server, clock } = await open(async () => words(200, "hello"));
	expect(clock.nextAlarm).toBeUndefined();
	const closed = connected(server.port);
	const socket = await closed;
	socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
	await text(socket);
	await expect.poll(() => clock.nextAlarm).toBeUndefined();
});

test.each([
	["headers that have no end", `X: ${"a".repeat(20_000)}`, /^HTTP\/1\.1 431 /],
	["no HTTP", "hello?\r\n\r\n", /^HTTP\/1\.1 400 /],
	["no host", "GET / HTTP/1.1\r\n\r\n", /^HTTP\/1\.1 400 /],
])("%s: refused", async (_, request, answer) => {
	const { server } = await open(async () => words(200, "hello"));
	const head = request.startsWith("X: ") ? "GET / HTTP/1.1\r\nHost: h\r\n" : "";
	expect(await send(server.port, head + request)).toMatch(answer);
});

test("a body tells its length, or that it does not", async () => {
	const seen: (number | undefined)[] = [];
	const { server } = await open(async ({ length }) => {
		seen.push(length);
		return words(413, "no");
	});
	const post = "POST / HTTP/1.1\r\nHost: h\r\n";
	await send(server.port, `${post}Content-Length: 3\r\n\r\nabc`);
	await send(server.port, `${post}Content-Length: 99999\r\n\r\nabc`);
	await send(
		server.port,
		`${post}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`,
	);
	expect(seen).toEqual([3, 99_999, undefined]);
});

test("clients that ask nothing, or little by little, shut nobody out", async () => {
	const { server } = await open(async () => words(200, "hello"));
	for (let count = 0; count < 40; count++) {
		const socket = await connected(server.port);
		socket.on("error", () => {});
		socket.write("G");
	}
	expect(await send(server.port, get("/status"))).toContain("hello");
});

test("64 requests are answered at once, and probes however many there are", async () => {
	let answerAll = () => {};
	const mayAnswer = new Promise<void>((resolve) => {
		answerAll = resolve;
	});
	let asked = 0;
	const { server } = await open(async ({ path }) => {
		if (path === "/status") {
			asked++;
			await mayAnswer;
		}
		return words(200, "hello");
	});
	const answers: Promise<string>[] = [];
	for (let count = 1; count <= 64; count++) {
		answers.push(send(server.port, get("/status")));
		await expect.poll(() => asked).toBe(count);
	}
	const refused = await send(server.port, get("/status"));
	expect(refused).toMatch(/^HTTP\/1\.1 503 /);
	expect(refused).toContain("too busy: 64 requests are being answered");
	expect(await send(server.port, get("/healthz"))).toContain("hello");
	answerAll();
	for (const answer of await Promise.all(answers)) {
		expect(answer).toContain("hello");
	}
	expect(await send(server.port, get("/status"))).toContain("hello");
});

test("closing ends all connections at once, also one that waits for its answer", async () => {
	let isAsked = () => {};
	const asked = new Promise<void>((resolve) => {
		isAsked = resolve;
	});
	const { server } = await open(() => {
		isAsked();
		return new Promise(() => {});
	});
	const idle = await connected(server.port);
	const waiting = await connected(server.port);
	waiting.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
	await asked;
	const ends = [idle, waiting].map((socket) => text(socket).catch(() => ""));
	server.close();
	expect(await Promise.all(ends)).toEqual(["", ""]);
});

test("an address that is in use rejects with the system's error", async () => {
	const { server } = await open(async () => words(200, "hello"));
	const address = { host: "127.0.0.1", port: server.port };
	const again = openServer({
		...{ address, clock: new VirtualClock(), onError: () => {}, isProbe },
		answer: async () => words(200, "hello"),
	});
	await expect(again).rejects.toMatchObject({ code: "EADDRINUSE" });
});
