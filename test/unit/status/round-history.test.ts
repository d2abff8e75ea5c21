import { describe, expect, it } from "vitest";
import { RoundHistory } from "../../../src/status/report.js";

describe("the story of a node whose workers are done before those of others", () => {
	const finishedEarly = () => {
		const history = new RoundHistory();
		history.started(1, 2, 1_000, 50_000);
		history.finished("all nodes have finished", 1_500);
		return history;
	};

	it("says how long its own ran, and that they succeeded", () => {
		expect(finishedEarly().rounds).toMatchObject([
			{ round: 1, ranMs: 500, ending: "all nodes have finished" },
		]);
	});

	it("says what ended the round elsewhere, and recovers from then on", () => {
		const history = finishedEarly();
		history.ended("rank 1 on b: exit code 9", 5_000);
		history.started(2, 2, 5_030, 54_030);
		expect(history.rounds).toMatchObject([
			{ ranMs: 500, ending: "rank 1 on b: exit code 9" },
			{ round: 2, recoveryMs: 30, ranMs: null, ending: "running" },
		]);
	});
});
