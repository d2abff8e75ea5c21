import { getEventListeners } from "node:events";
import { expect, it, onTestFinished, test, vi } from "vitest";
import type { Answer } from "../../../src/http/answer.js";
import { Metrics } from "../../../src/http/metrics.js";
import { Observer } from "../../../src/http/observer.js";
import { Polls, Router, shared } from "../../../src/http/routes.js";
import { nodeNow } from "../../helpers/node-now.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

function route() {
	const clock = new VirtualClock();
	const observer = new Observer({
		config: {
			...{ runId: "run", nodeId: "a", role: "default", policyId: "hard" },
			http: undefined,
		},
		clock,
		node: nodeNow,
	});
	const router = new Router({
		...{ observer, clock, metrics: new Metrics(0), page: new Map() },
		leave: () => expect.unreachable(),
	});
	/** `GET /status?wait`, from as many at once. */
	const follow = (count: number): Promise<Answer[]> => {
		const request = {
			...{ method: "GET", path: "/status", host: "localhost", length: 0 },
			...{ authorization: undefined, cookie: undefined },
			query: new URLSearchParams("wait"),
		};
		const rule = { host: "127.0.0.1", port: 80, token: undefined };
		return Promise.all(
			Array.from({ length: count }, () => router.answer(request, rule)),
		);
	};
	return { clock, observer, follow };
}

test("who follows a run for long leaves nothing behind in the agent", async () => {
	const warned = vi.spyOn(process, "emitWarning");
	onTestFinished(() => warned.mockRestore());
	const { clock, observer, follow } = route();
	for (let poll = 0; poll < 10; poll += 1) {
		const answers = follow(20);
		await clock.advance(1_000);
		expect((await answers).map(({ status }) => status)).toEqual(
			Array(20).fill(200),
		);
	}
	expect(getEventListeners(observer.ended, "abort")).toEqual([]);
	expect(clock.nextAlarm).toBeUndefined();
	expect(warned).not.toHaveBeenCalled();
});

test("who follows a run is told of its end at once", async () => {
	const { clock, observer, follow } = route();
	const answers = follow(2);
	observer.close();
	expect(await answers).toHaveLength(2);
	expect(clock.nextAlarm).toBeUndefined();
});

const live = async () => ({ value: "live", isLast: false });
const ended = async () => ({ value: "ended", isLast: true });

it.each<[string, (polls: Polls) => unknown, number, boolean]>([
	["nobody who never asked", () => {}, 0, false],
	["who asked a moment ago", (polls) => polls.answer(live), 1_400, true],
	[
		"nobody who has not asked for a while",
		(polls) => polls.answer(live),
		1_500,
		false,
	],
	[
		"who still waits for an answer",
		(polls) => void polls.answer(() => new Promise(() => {})),
		5_000,
		true,
	],
	["nobody who knows of it", (polls) => polls.answer(ended), 0, false],
])("the end waits for %s", async (_, ask, afterMs, waits) => {
	const clock = { time: 10_000, now: () => clock.time };
	const polls = new Polls(clock);
	await ask(polls);
	clock.time += afterMs;
	const known = polls.endIsKnown().then(() => "known");
	const later = new Promise((resolve) => setImmediate(resolve, "later"));
	expect(await Promise.race([known, later])).toBe(waits ? "later" : "known");
	await polls.answer(ended);
	expect(await known).toBe("known");
});

test("an answer is kept for all who ask at about the same time, a failure too", async () => {
	const clock = new VirtualClock();
	let made = 0;
	const get = shared(clock, async () => {
		made += 1;
		if (made === 2) throw new Error("broken");
		return made;
	});
	expect(await Promise.all([get(), get()])).toEqual([1, 1]);
	await clock.advance(249);
	expect(await get()).toBe(1);
	await clock.advance(1);
	await expect(get()).rejects.toThrow("broken");
	await clock.advance(250);
	expect(await get()).toBe(3);
});
