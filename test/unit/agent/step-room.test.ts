import { describe, expect, it } from "vitest";
import { StepRoom } from "../../../src/agent/steps/step-room.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const NEVER = new Promise<void>(() => {});

function open(look: () => Promise<void> = async () => {}) {
	const clock = new VirtualClock(100_000);
	const logSpace = { fullAt: 70_000, look };
	const channelSpace = { fullAt: 90_000, look };
	const room = new StepRoom({ clock, logSpace, channelSpace });
	return { clock, room };
}

describe("the room for steps", () => {
	it.each([
		["hook", 0],
		["report", 90_000],
		["output", 70_000],
		[undefined, 90_000],
	] as const)("A5 %s: a step may have been lost until %i", (source, until) => {
		expect(open().room.lostUntil(source)).toBe(until);
	});

	it("A5 no step was lost on disks that were never full", () => {
		const space = { fullAt: undefined, look: async () => {} };
		const room = new StepRoom({
			...{ clock: new VirtualClock(0), logSpace: space, channelSpace: space },
		});
		expect(room.lostUntil(undefined)).toBe(0);
	});

	it("A5 a disk that does not answer is not waited for", async () => {
		const { clock, room } = open(() => NEVER);
		const looked = room.look().then(() => clock.now());
		await clock.advance(5_000);
		expect(await looked).toBe(101_000);
	});
});
