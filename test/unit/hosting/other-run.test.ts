import { expect, it } from "vitest";
import { OtherRun } from "../../../src/hosting/other-run.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

it("says at once and every ten seconds for whom it waits, and gives up after the join time-out", async () => {
	const clock = new VirtualClock();
	const said: string[] = [];
	const other = new OtherRun({
		clock,
		config: {
			runId: "b",
			rendezvous: {
				...{ joinTimeoutMs: 15_000, lastCallTimeoutMs: 1_000 },
				...{ settleTimeoutMs: 5_000, leaseTtlMs: 5_000 },
			},
		},
		log: { warn: (words) => said.push(words) },
	});
	const look = () => other.see("run a still uses node0:29400");
	look();
	look();
	expect(said).toEqual([
		expect.stringContaining(
			"run a still uses node0:29400: run b waits for its end, up to join_timeout (15s)",
		),
	]);
	await clock.advance(10_000);
	look();
	expect(said).toHaveLength(2);
	await clock.advance(5_000);
	expect(look).toThrow("has not ended within join_timeout (15s)");
});
