import { expect, it } from "vitest";
import { expiryOf } from "../../../../src/rendezvous/etcd/expiry.js";

const SENT = { now: 1_000, wallTime: 1_700_000_000_000 };

it.each([
	["at once", 0, 0, 6_000],
	["later, awake all the time", 3_000, 3_000, 6_000],
	["with a wall clock that runs a little fast", 3_000, 3_400, 6_000],
	["after a sleep of 3 s", 500, 3_500, 3_000],
	["after a sleep of an hour", 500, 3_600_500, 1_000 - 3_595_000],
	["with a wall clock that was set back", 3_000, -3_600_000, 6_000],
])("a lease of 5 s, asked %s", (_, passed, wallPassed, expiry) => {
	const present = {
		now: SENT.now + passed,
		wallTime: SENT.wallTime + wallPassed,
	};
	expect(expiryOf(SENT, 5_000, present)).toBe(expiry);
});
