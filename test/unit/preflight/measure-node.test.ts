import { readdirSync } from "node:fs";
import {
	createServer as createWebServer,
	type RequestListener,
} from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import { askClock } from "../../../src/preflight/ask-clock.js";
import { measureSpeeds } from "../../../src/preflight/measure-speeds.js";
import { unreachablePeers } from "../../../src/preflight/reach-peers.js";
import { freePort } from "../../helpers/free-port.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { onTestFinished } from "../../helpers/this-test.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

function listening(server: Server): Promise<number> {
	onTestFinished(() => void server.close());
	return new Promise((resolve) => {
		server.listen(0, "127.0.0.1", () => {
			resolve((server.address() as AddressInfo).port);
		});
	});
}

const etcdAt = (...endpoints: readonly string[]) => ({
	...{ endpoints, credentials: {} },
});

describe("the clock beside etcd's", () => {
	/** 1,000 s after 1970. */
	const clock = () => new VirtualClock(1_000_000);
	const asked = async (answer: RequestListener, at = clock()) => {
		const port = await listening(createWebServer(answer));
		return askClock(etcdAt(`127.0.0.1:${port}`), at);
	};

	it.each([
		["Thu, 01 Jan 1970 00:16:35 GMT", 4_500],
		["Thu, 01 Jan 1970 00:17:40 GMT", -60_500],
	])("D11 is compared with the middle of the second that it tells: %s", async (date, aheadMs) => {
		const paths: (string | undefined)[] = [];
		const found = await asked(({ url }, answer) => {
			paths.push(url);
			answer.setHeader("date", date).end();
		});
		expect(found).toEqual({ aheadMs, uncertainMs: 500 });
		expect(paths).toEqual(["/version"]);
	});

	it("D11 is unknown where an answer has no date, none comes, or nobody is there", async () => {
		const undated = await asked((_, answer) => {
			answer.sendDate = false;
			answer.end();
		});
		expect(undated).toBeUndefined();
		const at = clock();
		const silent = asked(() => {}, at);
		// Not before it has asked.
		while (at.nextAlarm === undefined) await pauseATurn();
		await at.advance(400);
		expect(await silent).toBeUndefined();
		const nobody = etcdAt(`127.0.0.1:${await freePort()}`);
		expect(await askClock(nobody, clock())).toBeUndefined();
		expect(await askClock(etcdAt(), clock())).toBeUndefined();
	});
});

const pauseATurn = () => new Promise((resolve) => setImmediate(resolve));

describe("the way to the other nodes", () => {
	const peer = (nodeId: string, masterPort: number, address = "127.0.0.1") => ({
		...{ nodeId, address, masterPort },
	});
	/** TCP has no way there. */
	const NOWHERE = "255.255.255.255";

	it("D11 is there where one accepts or refuses a connection, and not where the system knows none", async () => {
		const port = await listening(createServer((socket) => socket.destroy()));
		const peers = [
			peer("accepts", port),
			peer("refuses", await freePort()),
			peer("lost", 9, NOWHERE),
		];
		expect(await unreachablePeers(peers, systemClock)).toEqual([
			{
				...{ nodeId: "lost", address: NOWHERE },
				problem: expect.stringMatching(/^E[A-Z]+$/),
			},
		]);
	});

	it("D11 is not there where no answer comes in time", async () => {
		const port = await listening(createServer());
		const clock = new VirtualClock();
		const found = unreachablePeers([peer("late", port)], clock);
		// The kernel's answer waits for this process to look.
		await clock.advance(400);
		expect(await found).toMatchObject([
			{ nodeId: "late", problem: "no answer within 400 ms" },
		]);
	});

	it("D11 is tried to 32 of them at most", async () => {
		const many = Array.from({ length: 40 }, (_, index) =>
			peer(`node-${index}`, 9, NOWHERE),
		);
		expect(await unreachablePeers(many, systemClock)).toHaveLength(32);
	});
});

describe("a node's speeds", () => {
	it("D11 are numbers, and nothing is left of the file that was written", async () => {
		const { path, remove } = temporaryFolder();
		onTestFinished(remove);
		const speeds = await measureSpeeds(path, "a-1", new VirtualClock());
		for (const speed of [speeds.processor, speeds.memory, speeds.disk]) {
			expect(speed).toBeGreaterThan(0);
		}
		expect(readdirSync(path)).toEqual([]);
	});

	it("D11 have none of a disk that takes too long, or cannot be written", async () => {
		const { path, remove } = temporaryFolder();
		onTestFinished(remove);
		const clock = new VirtualClock();
		const slow = measureSpeeds(path, "a-1", clock);
		await clock.advance(500);
		expect(await slow).toMatchObject({ disk: null });
		const nowhere = join(path, "nowhere");
		expect(await measureSpeeds(nowhere, "a-1", clock)).toMatchObject({
			disk: null,
		});
	});
});
