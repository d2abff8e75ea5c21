import {
	describeGoodput,
	type Goodput,
} from "../../src/status/goodput/describe-goodput.js";
import { ledgerRecord, stage, stages } from "./ledger-record.js";
import { historyRecord } from "./run-view.js";

/** One node for 200 s: 90 s of new steps, 30 s of saving, 40 s lost to a slow rank, and 40 s until its first step. */
export function sampleGoodput(): Goodput {
	const record = ledgerRecord({
		...{ startedAt: 0, ranUntil: null, stoppedAt: null, stragglerMs: 40_000 },
		stages: stages({
			...{ start: stage(40_000), fresh: stage(160_000, 30_000) },
		}),
	});
	const lines = [historyRecord({ members: ["a"], begunAt: 0 })];
	return describeGoodput({
		...{ runId: "r", instance: 1, begunAt: 0, endedAt: null, until: 200_000 },
		...{ lines, starts: [lines], root: null, countsSteps: true },
		accounts: [{ nodeId: "a", from: 0, to: 200_000, records: [record] }],
		stragglerMs: new Map([[1, 40_000]]),
	});
}
