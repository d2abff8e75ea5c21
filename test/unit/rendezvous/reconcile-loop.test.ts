import { expect, it } from "vitest";
import { PassingError } from "../../../src/base/back-off.js";
import { ElasticRunError } from "../../../src/base/errors.js";
import {
	LOOK_EVERY_MS,
	ReconcileLoop,
} from "../../../src/rendezvous/member/reconcile-loop.js";
import { settle, VirtualClock } from "../../helpers/virtual-clock.js";

const unreachable = () => new ElasticRunError("STORE_UNREACHABLE", "no answer");

function loopOf(
	look: (atLeast: number) => Promise<boolean>,
	act?: () => Promise<boolean>,
	seen = () => 0,
) {
	const clock = new VirtualClock(0);
	const errors: unknown[] = [];
	const loop = new ReconcileLoop({
		clock,
		random: () => 0,
		seen,
		look,
		...(act && { act }),
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
	loop.requestRead();
	for (let hint = 0; hint < 5; hint++) loop.requestRead();
	expect(looks).toBe(1);
	finish();
	await settle();
	expect(looks).toBe(2);
	finish();
	await settle();
	expect(looks).toBe(2);
});

/** Looks that each read a store at the revision that it has then, and take until `finish`. */
function readings() {
	const read: number[] = [];
	let revision = 1;
	let finish = () => {};
	const { loop, clock } = loopOf(
		() => {
			read.push(revision);
			return new Promise((resolve) => {
				finish = () => resolve(false);
			});
		},
		undefined,
		() => read.at(-1) ?? 0,
	);
	return {
		read,
		loop,
		clock,
		change: () => ++revision,
		finish: async () => {
			finish();
			await settle();
		},
	};
}

it("does not look at a change that it has read already, nor at one that it is just reading", async () => {
	const { read, loop, change, finish } = readings();
	const changed = change();
	loop.requestRead();
	loop.requestReadAt(changed);
	await finish();
	loop.requestReadAt(changed);
	await settle();
	expect(read).toEqual([changed]);
});

it("looks at a change that came after what it is just reading", async () => {
	const { read, loop, change, finish } = readings();
	loop.requestRead();
	const changed = change();
	loop.requestReadAt(changed);
	loop.requestReadAt(1);
	await finish();
	expect(read).toEqual([1, changed]);
});

it.each([
	["an unreachable store again", unreachable],
	["again where something else is missing", () => new PassingError("no port")],
])("tries %s, less and less often", async (_, problem) => {
	const lookedAt: number[] = [];
	const { clock, loop, errors } = loopOf(async () => {
		lookedAt.push(clock.now());
		throw problem();
	});
	loop.requestRead();
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
	loop.requestRead();
	await settle();
	loop.requestRead();
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
	loop.requestRead();
	await settle();
	loop.close();
	loop.requestRead();
	await clock.advance(60_000);
	expect(looks).toBe(1);
	expect(clock.nextAlarm).toBeUndefined();
});

/** What was done and when, one letter for each look and act. */
function diaryOf() {
	const diary: string[] = [];
	const { clock, loop } = loopOf(
		async () => {
			diary.push(`look ${clock.now()}`);
			return false;
		},
		async () => {
			diary.push(`act ${clock.now()}`);
			return diary.length === 1;
		},
	);
	return { clock, loop, diary };
}

it("looks and acts within the time that is given, and looks no later for having acted", async () => {
	const { clock, loop, diary } = diaryOf();
	loop.requestRead();
	await settle();
	loop.requestWrite(300);
	loop.requestWrite(200);
	loop.requestRead(1_000);
	await clock.advance(999);
	expect(diary).toEqual(["look 0", "act 200"]);
	await clock.advance(1);
	expect(diary.slice(2)).toEqual(["look 1000"]);
	await clock.advance(LOOK_EVERY_MS - 1);
	loop.requestWrite();
	await clock.advance(1);
	expect(diary.slice(3)).toEqual(["act 5999", "look 6000"]);
});

it.each([
	[1, LOOK_EVERY_MS],
	[1_000, LOOK_EVERY_MS],
	[5_000, 5 * LOOK_EVERY_MS],
])("one of %d agents looks without a hint after %d ms", async (agents, afterMs) => {
	const clock = new VirtualClock(0);
	const looks: number[] = [];
	const loop = new ReconcileLoop({
		clock,
		random: () => 0,
		seen: () => 0,
		agents: () => agents,
		look: async () => {
			looks.push(clock.now());
			return false;
		},
		onError: () => {},
	});
	loop.requestRead();
	await clock.advance(1.5 * afterMs);
	expect(looks).toEqual([0, afterMs]);
	loop.close();
});
