import { expect, test } from "vitest";
import type { HistoryRecord } from "../../../../src/rendezvous/records/history-record.js";
import type { RoundCause } from "../../../../src/rendezvous/records/records.js";
import {
	adviseCheckpoints,
	failureRateOf,
} from "../../../../src/status/goodput/failures.js";
import { ledgerRecord, stage, stages } from "../../../helpers/ledger-record.js";
import { historyRecord } from "../../../helpers/run-view.js";

const HOUR = 3_600_000;
const because = (kind: RoundCause["kind"]): RoundCause => ({
	...{ kind, changeEvent: null, reason: kind, root: null },
});
const round = (change: Partial<HistoryRecord>) =>
	historyRecord({ begunAt: 0, liftedAt: 0, worldSize: 4, ...change });

const first = [
	round({ endedAt: 2 * HOUR, cause: because("start") }),
	round({
		...{ round: 2, begunAt: 2 * HOUR, liftedAt: 2 * HOUR, worldSize: 2 },
		...{ endedAt: 6 * HOUR, cause: because("failure"), outcome: "failed" },
	}),
];
const second = [
	round({
		...{ round: 3, instance: 9, begunAt: 10 * HOUR, liftedAt: 10 * HOUR },
		...{ endedAt: null, cause: because("start"), worldSize: 8 },
	}),
];

test("P4 failures of all starts count, by the time of all workers", () => {
	const rate = failureRateOf([first, second], 11 * HOUR);
	// 4 workers for 2 h, 2 for 4 h, 8 for 1 h: 24 hours of workers, and two failures.
	expect(rate).toEqual({
		...{ starts: 2, failures: 2, workers: 8 },
		workerMtbfSeconds: 12 * 3_600,
		mtbfSeconds: 1.5 * 3_600,
	});
});

test("P4 without a failure nothing is known", () => {
	expect(failureRateOf([second], 11 * HOUR)).toMatchObject({
		...{ failures: 0, workerMtbfSeconds: null, mtbfSeconds: null },
	});
	expect(failureRateOf([], 0)).toMatchObject({ starts: 0, mtbfSeconds: null });
});

test("P4 a start whose end nobody saw adds the time that was seen", () => {
	const [ran] = first;
	const lost = [ran, round({ round: 2, liftedAt: 2 * HOUR, endedAt: null })];
	const rounds = lost.flatMap((line) => (line === undefined ? [] : [line]));
	const failed = [round({ cause: because("failure"), endedAt: HOUR })];
	expect(failureRateOf([rounds, failed], 99 * HOUR)).toMatchObject({
		...{ failures: 1, workerMtbfSeconds: 12 * 3_600, mtbfSeconds: 3 * 3_600 },
	});
});

test("P4 Young and Daly: 10 800 s and 30 s are 804.98 s; four workers halve it", () => {
	const saved = ledgerRecord({
		saves: 2,
		stages: stages({ fresh: stage(70_000, 60_000) }),
	});
	const account = { nodeId: "a", from: 0, to: 1, records: [saved] };
	const advise = (workers: number) =>
		adviseCheckpoints(
			{ accounts: [account] },
			{
				...{ starts: 1, failures: 1, workers, workerMtbfSeconds: 10_800 },
				mtbfSeconds: 10_800 / workers,
			},
		);
	expect(advise(1).intervalSeconds).toBeCloseTo(804.98, 2);
	expect(advise(4).intervalSeconds).toBeCloseTo(804.98 / 2, 2);
	expect(advise(4)).toMatchObject({ saveSeconds: 30, missing: null });
});
