import { expect, it } from "vitest";
import {
	callTime,
	keepaliveTime,
} from "../../../../../src/rendezvous/store/etcd/pending-calls.js";

it.each([
	[undefined, 1_000, 2_000],
	[1_000, 1_000, 2_000],
	[5_000, 1_000, 2_000],
	[15_000, 3_000, 6_000],
	[60_000, 5_000, 10_000],
])("with leases of %s ms a call has %i ms, and a first one %i", (ttlMs, withinMs, firstWithinMs) => {
	expect(callTime(ttlMs)).toEqual({ withinMs, firstWithinMs });
});

it("leaves time to lose a connection, and to be greeted over the next one, before the lease is not relied on any more", () => {
	for (const ttlMs of [5_000, 15_000, 60_000]) {
		const { withinMs, firstWithinMs } = keepaliveTime(ttlMs);
		const sentMs = ttlMs / 5;
		const longestPauseMs = 100;
		const overMs = sentMs + withinMs + longestPauseMs + firstWithinMs;
		expect(overMs).toBeLessThan(0.8 * ttlMs);
	}
});
