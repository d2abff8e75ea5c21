import { expect, it } from "vitest";
import { judgeAnswerer, OtherRun } from "../../../src/hosting/meeting.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const fix = "give another port in --rdzv-endpoint, on every node";

it.each([
	[{ kind: "etcd", runId: "100" }, "ours", ""],
	[{ kind: "nobody" }, "awaited", "nothing listens at node0:29400"],
	[{ kind: "mute" }, "awaited", "node0:29400 gives no answer"],
	[{ kind: "etcd", runId: "99" }, "passing", "run 99 still uses node0:29400"],
	[
		{ kind: "etcd", runId: undefined },
		"foreign",
		"an etcd that was not started for a run; to use it give --rdzv-backend etcd",
	],
	[
		{ kind: "stranger" },
		"foreign",
		`node0:29400 is taken by something that is no etcd of this run; ${fix}`,
	],
] as const)("%o at the endpoint is %s", (answerer, kind, words) => {
	const place = { runId: "100", endpoint: "node0:29400" };
	const judged = judgeAnswerer(answerer, place);
	expect(judged.kind).toBe(kind);
	expect("words" in judged ? judged.words : "").toContain(words);
});

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
