import { beforeEach, expect, it } from "vitest";
import { EarlyNotices } from "../../../src/launch/notice-watch.js";
import type { Notice } from "../../../src/model/notice.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

let clock: VirtualClock;
let left: string[];
let early: EarlyNotices;
beforeEach(() => {
	clock = new VirtualClock();
	left = [];
	early = new EarlyNotices({
		...{ clock, shutdownTimeoutMs: 30_000, log: { info: () => {} } },
		leave: ({ exitCode, reason }) => left.push(`${exitCode} ${reason}`),
	});
});
const inMs = (ms: number, change: Partial<Notice> = {}): Notice => ({
	source: "file",
	origin: "/gone",
	reason: "rack",
	deadline: clock.wallTime() + ms,
	...change,
});

it.each([
	["two minutes", 120_000, {}, /^143 notice from file: rack.*it does not join/],
	["a lifetime", 60_000, { source: "lifetime" }, /^75 /],
	["an unknown time", 0, { deadline: undefined }, /^143 /],
] as const)("P9 %s is too little to join a run for", (_, ms, change, words) => {
	early.noticed(inMs(ms, change));
	expect(left).toEqual([expect.stringMatching(words)]);
	expect(early.handOver()).toEqual([]);
});

it("P9 a deadline far away: the node joins, and its agent learns of it", () => {
	const far = inMs(3_600_000);
	early.noticed(far);
	expect(left).toEqual([]);
	expect(early.handOver()).toEqual([far]);
	expect(clock.nextAlarm).toBeUndefined();
});

it("P9 a node that still waits when little time is left does not join", async () => {
	early.noticed(inMs(3_600_000));
	await clock.advance(3_600_000 - 630_000);
	expect(left).toEqual([]);
	await clock.advance(10);
	expect(left).toHaveLength(1);
});

it("P9 a withdrawn notice holds nothing up", async () => {
	early.noticed(inMs(3_600_000));
	early.withdrawn({ source: "file", origin: "/other" });
	expect(clock.nextAlarm).toBeDefined();
	early.withdrawn({ source: "file", origin: "/gone" });
	expect(clock.nextAlarm).toBeUndefined();
	expect(early.handOver()).toEqual([]);
});
