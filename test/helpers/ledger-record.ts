import type { Stages, StageTime } from "../../src/model/step.js";
import type { LedgerRecord } from "../../src/rendezvous/records/ledger-record.js";

export function stage(ms: number, savingMs = 0, loadingMs = 0): StageTime {
	return { ms, savingMs, loadingMs };
}

export function stages(change: Partial<Stages> = {}): Stages {
	return {
		...{ start: stage(0), again: stage(0), fresh: stage(0) },
		...{ unsure: stage(0), open: stage(0), ...change },
	};
}

/** A node that has run its round from 100 to 900, and has made steps 1 to 5. */
export function ledgerRecord(change: Partial<LedgerRecord> = {}): LedgerRecord {
	return {
		...{ version: 1, nodeId: "a", instance: 1, round: 1, arrivedAt: 0 },
		...{ writtenAt: 910, startedAt: 100, ranUntil: 900, stoppedAt: 910 },
		before: null,
		steps: {
			...{ first: 1, furthest: { step: 5, source: "report" } },
			...{ firstAt: 200, newAt: 200 },
		},
		stages: stages({ start: stage(100), fresh: stage(700) }),
		saves: 0,
		...change,
	};
}
