import { expect, it } from "vitest";
import { expiryOf } from "../../../../../src/rendezvous/store/etcd/leases.js";
import { VirtualClock } from "../../../../helpers/virtual-clock.js";

const SENT = { now: 1_000, wallTime: 1_700_000_000_000, asleep: 40_000 };

it.each([
	["at once", 0, 0, 0, 6_000],
	["later, awake all the time", 3_000, 3_000, 0, 6_000],
	["with a wall clock that runs a little fast", 3_000, 3_400, 0, 6_000],
	["after a sleep of 3 s", 500, 3_500, 3_000, 3_000],
	["after a sleep of an hour", 500, 3_600_500, 3_600_000, -3_594_000],
	["with a wall clock that was set back", 3_000, -3_600_000, 0, 6_000],
	["with a wall clock that was set forward", 3_000, 3_600_000, 0, 6_000],
	["after a sleep of 3 s, set back meanwhile", 500, -60_000, 3_000, 3_000],
	["where the sleep seems to have shrunk", 3_000, 60_000, -10, 6_000],
])("a lease of 5 s, asked %s", (_, passed, wallPassed, slept, expiry) => {
	const clock = Object.assign(new VirtualClock(SENT.now + passed), {
		wallTime: () => SENT.wallTime + wallPassed,
		asleep: () => SENT.asleep + slept,
	});
	expect(expiryOf(SENT, 5_000, clock)).toBe(expiry);
});
