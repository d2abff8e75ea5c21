import { expect, it } from "vitest";
import { Turn } from "../../../src/rendezvous/member/join-run.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

it("says at once and every ten seconds why it waits, and gives up after the join time-out", async () => {
	const clock = new VirtualClock();
	const began = clock.now();
	const said: number[] = [];
	const turn = new Turn({
		clock,
		spec: { joinTimeoutMs: 25_000 },
		onTurn: (why) => {
			expect(why).toContain("it ended; this agent waits");
			said.push(clock.now() - began);
		},
	});
	let failure: unknown;
	const wait = async () => {
		while (failure === undefined) {
			await turn.wait("it ended").catch((error: unknown) => {
				failure = error;
			});
		}
	};
	const waiting = wait();
	await clock.advance(24_900);
	expect(said).toEqual([0, 10_000, 20_000]);
	expect(failure).toBeUndefined();
	await clock.advance(100);
	await waiting;
	expect(failure).toMatchObject({
		code: "RENDEZVOUS_FAILED",
		message: "it ended; its agents were still there after join_timeout",
	});
});
