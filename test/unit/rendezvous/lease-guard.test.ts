import { expect, it } from "vitest";
import { LeaseGuard } from "../../../src/rendezvous/member/lease-guard.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const TTL_MS = 5_000;

function guardOf(expiresAt: number, ttlMs = TTL_MS) {
	const clock = new VirtualClock(0);
	const lease = {
		id: "lease-1",
		ttlMs,
		expiresAt,
		revoke: async () => {},
	};
	const losses: { at: number; reason: string; fenceAt: number }[] = [];
	const guard = new LeaseGuard(clock, lease, (reason, fenceAt) =>
		losses.push({ at: clock.now(), reason, fenceAt }),
	);
	return { clock, lease, guard, losses };
}

it("takes the lease for lost at 0.8 of its time, and wants the workers dead at 0.95", async () => {
	const { clock, guard, losses } = guardOf(TTL_MS);
	expect(guard.check()).toBe(true);
	await clock.advance(3_999);
	expect(losses).toEqual([]);
	await clock.advance(2_000);
	expect(losses).toMatchObject([{ at: 4_000, fenceAt: 4_750 }]);
	expect(guard.check()).toBe(false);
});

it.each([
	[1_000, 800, 950],
	[2_000, 1_600, 1_900],
	[60_000, 48_000, 57_000],
])("does so in proportion where it lives for %i ms: at %i and %i", async (ttlMs, suspectAt, fenceAt) => {
	const { clock, guard, losses } = guardOf(ttlMs, ttlMs);
	expect(guard.check()).toBe(true);
	await clock.advance(ttlMs);
	expect(losses).toMatchObject([{ at: suspectAt, fenceAt }]);
});

it("sees on waking that its time is long over", async () => {
	const { clock, guard, losses } = guardOf(TTL_MS);
	await clock.advance(60_000);
	expect(guard.check()).toBe(false);
	expect(losses).toMatchObject([{ at: 60_000, fenceAt: 4_750 }]);
});

it("wants the workers dead at once where the store says that the lease has ended", () => {
	const { guard, losses } = guardOf(TTL_MS);
	guard.lose("the store has ended it");
	guard.lose("again");
	expect(losses).toEqual([
		{ at: 0, reason: "the store has ended it", fenceAt: 0 },
	]);
});
