import { expect, it } from "vitest";
import { asEnded } from "../../../src/http/observer.js";
import type { RunStatus } from "../../../src/rendezvous/describe/run-status.js";
import type {
	Outcome,
	RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import { runStatus } from "../../helpers/run-status.js";
import { roundRecord } from "../../helpers/run-view.js";

const outcome: Outcome = {
	...{ result: "succeeded", exitCode: 0, root: null },
	...{ reason: "all workers succeeded", endedAt: 77 },
};
const waiting = { words: "", since: 1, until: null, needed: 1, missing: [] };
const open = runStatus({ instance: 7, waiting });

it.each<[string, RoundRecord | null, Partial<RunStatus>]>([
	[
		"the outcome that was heard of since",
		roundRecord({ instance: 7, outcome }),
		{ outcome, phase: "ended", since: 77, waiting: null },
	],
	["nothing new without one", roundRecord({ instance: 7 }), open],
	["nothing of another start", roundRecord({ instance: 6, outcome }), open],
	["nothing before the first view", null, open],
])("a run has %s", (_, round, expected) => {
	expect(asEnded(open, round)).toEqual({ ...open, ...expected });
});

it("keeps what the store said of the end", () => {
	const told = runStatus({ outcome: { ...outcome, reason: "as it is kept" } });
	expect(asEnded(told, roundRecord({ instance: 7, outcome }))).toBe(told);
});
