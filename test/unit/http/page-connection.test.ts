import { describe, expect, it } from "vitest";
import {
	agentTime,
	answered,
	CONNECTING,
	delayOf,
	failed,
} from "../../../src/http/page/connection.js";
import {
	ago,
	changes,
	plain,
	shortened,
} from "../../../src/http/page/words.js";

const ESC = "\u001b";

it.each<[string, string]>([
	["<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
	[`${ESC}[1;31mred${ESC}[0m text`, "red text"],
	[`${ESC}]0;a title\u0007after`, "after"],
	[`${ESC}Pq picture without an end`, ""],
	[`cut off ${ESC}[38;5`, "cut off "],
	[
		"tab\tbell\u0007 back\b return\r nul\u0000 c1\u009b",
		"tab\tbell back return nul c1",
	],
	["user\u202etxt.exe\u2066", "usertxt.exe"],
])("shows %j without what is for terminals", (line, expected) => {
	expect(plain(line)).toBe(expected);
});

describe("how the page stands with its agent", () => {
	const live = answered(CONNECTING, 5_000, 1_000);

	it("asks each second, seldom while nobody looks, and less often where nobody answers", () => {
		const lost = failed(live, "Failed to fetch", 2_000);
		const delays = [live, lost].map((each) => delayOf(each, false, 0));
		expect(delays).toEqual([1_000, 2_000]);
		expect(delayOf(live, true, 1_000)).toBe(9_000);
		expect(delayOf(live, false, 300)).toBe(700);
		expect(delayOf(live, false, 1_004)).toBe(0);
	});

	it("does not answer since it answered last, or since it was asked first", () => {
		const lost = failed(failed(live, "no", 2_000), "still no", 3_000);
		expect(lost).toMatchObject({
			state: "lost",
			since: 1_000,
			problem: "still no",
		});
		expect(failed(CONNECTING, "no", 700)).toMatchObject({ since: 700 });
		expect(failed(live, "a token", 2_000, "refused").state).toBe("refused");
		expect(answered(lost, 9_000, 5_000)).toMatchObject({
			state: "live",
			since: 5_000,
		});
	});

	it("goes by the agent's clock, the latest that was heard, and stands still without it", () => {
		expect(agentTime(live, 1_500)).toBe(5_500);
		const old = answered(live, 5_000, 1_900);
		expect(agentTime(old, 2_000)).toBe(6_000);
		expect(agentTime(failed(old, "no", 9_000), 9_500)).toBe(5_900);
		expect(agentTime(CONNECTING, 77)).toBe(77);
	});
});

it.each<[string, string]>([
	[ago(null, 0), "–"],
	[ago(0, 99_999), "99 s"],
	[ago(0, 125_400), "2 min 5 s"],
	[changes("+", [..."abcdefghij"], ""), " + a, b, c, d, e, f, g, h and 2 more"],
	[changes("+", ["c", "d"], "c came"), " + d"],
	[changes("−", ["c"], "c left: SIGTERM"), ""],
	[shortened("gpu-cluster-rack-7-node-012", 11), "gpu-c…e-012"],
	[shortened("node-a", 11), "node-a"],
])("says %j", (said, expected) => {
	expect(said).toBe(expected);
});
