import { expect, it } from "vitest";
import { ElasticRunError } from "../../../src/errors.js";
import { LOOK_EVERY_MS, LookLoop } from "../../../src/rendezvous/look-loop.js";
import { settle, VirtualClock } from "../../helpers/virtual-clock.js";

const unreachable = () => new ElasticRunError("STORE_UNREACHABLE", "no answer");

function loopOf(look: () => Promise<boolean>) {
	const clock = new VirtualClock(0);
	const errors: unknown[] = [];
	const loop = new LookLoop({
		clock,
		random: () => 0,
		look,
		onError: (error) => errors.push(error),
	});
	return { clock, loop, errors };
}

it("looks once more for all hints that arrive during a look", async () => {
	let looks = 0;
	let finish = () => {};
	const { loop } = loopOf(() => {
		looks += 1;
		return new Promise((resolve) => {
			finish = () => resolve(false);
		});
	});
	loop.hint();
	for (let hint = 0; hint < 5; hint++) loop.hint();
	expect(looks).toBe(1);
	finish();
	await settle();
	expect(looks).toBe(2);
	finish();
	await settle();
	expect(looks).toBe(2);
});

it("looks all the same, later, where no hint comes", async () => {
	let looks = 0;
	const { clock, loop } = loopOf(async () => {
		looks += 1;
		return false;
	});
	loop.hint();
	await clock.advance(LOOK_EVERY_MS - 1);
	expect(looks).toBe(1);
	await clock.advance(1);
	expect(looks).toBe(2);
});

it("tries an unreachable store again, less and less often", async () => {
	const lookedAt: number[] = [];
	const { clock, loop, errors } = loopOf(async () => {
		lookedAt.push(clock.now());
		throw unreachable();
	});
	loop.hint();
	await clock.advance(2_000);
	expect(lookedAt).toEqual([0, 25, 75, 175, 375, 775, 1_275, 1_775]);
	expect(errors).toEqual([]);
});

it("tells of any other error, and looks no more", async () => {
	let looks = 0;
	const { clock, loop, errors } = loopOf(async () => {
		looks += 1;
		throw new Error("a bug");
	});
	loop.hint();
	await settle();
	loop.hint();
	await clock.advance(60_000);
	expect(errors).toEqual([new Error("a bug")]);
	expect(looks).toBe(1);
});

it("is still once it is closed", async () => {
	let looks = 0;
	const { clock, loop } = loopOf(async () => {
		looks += 1;
		throw unreachable();
	});
	loop.hint();
	await settle();
	loop.close();
	loop.hint();
	await clock.advance(60_000);
	expect(looks).toBe(1);
	expect(clock.nextAlarm).toBeUndefined();
});
