import { expect, it } from "vitest";
import { ElasticRunError } from "../../../src/base/errors.js";
import { NotLaunchedError } from "../../../src/runtime/not-launched-error.js";
import { eventFromVariables } from "../../../src/runtime/torchrun-event.js";
import CASES from "../../fixtures/channel/variable-cases.json" with {
	type: "json",
};

const [TORCHRUN] = CASES.accepted;

it("takes every field from torchrun's variables", () => {
	expect(eventFromVariables({ ...TORCHRUN?.variables }, 77)).toEqual({
		sequence: 1,
		timestamp: 77,
		kind: "WORK",
		workerState: "HEALTHY",
		changeEvent: null,
		instance: 0,
		round: 3,
		reason: "started by another launcher",
		workerInfo: {
			localRank: 1,
			roleRank: 4,
			rank: 5,
			localWorldSize: 2,
			roleWorldSize: 6,
			worldSize: 8,
			groupRank: 2,
			groupWorldSize: 4,
			role: "trainer",
			masterAddr: "10.0.0.1",
			masterPort: 40123,
			round: 3,
			restartCount: 2,
			runId: "job",
		},
	});
});

it("assumes one process on each node where only rank and world size are set", () => {
	const variables = { RANK: "1", WORLD_SIZE: "2", LOCAL_RANK: "" };
	expect(eventFromVariables(variables, 0).workerInfo).toMatchObject({
		rank: 1,
		localRank: 0,
		groupRank: 1,
		groupWorldSize: 2,
		roleWorldSize: 2,
		round: 1,
	});
});

it.each(
	CASES.refused,
)("says how to launch where there is no place: $problem", ({
	variables,
	problem,
}) => {
	const attempt = () => eventFromVariables({ ...variables }, 0);
	expect(attempt).toThrow(problem);
	expect(attempt).toThrow(/elastic-run --nproc-per-node 2 /);
	expect(attempt).toThrow(NotLaunchedError);
	expect(attempt).toThrow(ElasticRunError);
	expect(attempt).toThrow(
		expect.objectContaining({ code: "NOT_LAUNCHED", name: "NotLaunchedError" }),
	);
});
