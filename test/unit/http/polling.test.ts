import { expect, it } from "vitest";
import { Follower } from "../../../src/http/polling.js";

const live = async () => ({ value: "live", isLast: false });
const ended = async () => ({ value: "ended", isLast: true });

/** Whether the promise has been resolved by now. */
async function isDone(promise: Promise<void>): Promise<boolean> {
	return Promise.race([
		promise.then(() => true),
		new Promise<false>((resolve) => setImmediate(() => resolve(false))),
	]);
}

function follower() {
	const clock = { time: 10_000, now: () => clock.time };
	return { clock, follower: new Follower(clock) };
}

it("nobody who never asked is waited for", async () => {
	expect(await isDone(follower().follower.heard())).toBe(true);
});

it("who asked a moment ago is waited for until the end is told", async () => {
	const { clock, follower: one } = follower();
	await one.answer(live);
	clock.time += 1_400;
	const heard = one.heard();
	expect(await isDone(heard)).toBe(false);
	expect(await one.answer(ended)).toBe("ended");
	expect(await isDone(heard)).toBe(true);
});

it("who has not asked for a while has gone", async () => {
	const { clock, follower: one } = follower();
	await one.answer(live);
	clock.time += 1_500;
	expect(await isDone(one.heard())).toBe(true);
});

it("whose question is under way is waited for, however long that takes", async () => {
	const { clock, follower: one } = follower();
	let tell: () => void = () => {};
	const told = new Promise<void>((resolve) => {
		tell = resolve;
	});
	const answer = one.answer(async () => {
		await told;
		return { value: "ended", isLast: true };
	});
	clock.time += 5_000;
	const heard = one.heard();
	expect(await isDone(heard)).toBe(false);
	tell();
	expect(await answer).toBe("ended");
	expect(await isDone(heard)).toBe(true);
});

it("who has heard of it is not waited for", async () => {
	const { follower: one } = follower();
	await one.answer(ended);
	expect(await isDone(one.heard())).toBe(true);
});
