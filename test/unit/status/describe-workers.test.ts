import { expect, it } from "vitest";
import type { Hang } from "../../../src/model/hang.js";
import type { ProgressRecord } from "../../../src/model/progress.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { findingsOf } from "../../../src/status/describe-run.js";
import { snapshotOf } from "../../helpers/run-snapshot.js";
import { nodeStatus } from "../../helpers/run-status.js";

const KEYS = new RunKeys("r");
const STRAGGLER = {
	...{ rank: 2, node: "b", lostSecondsPerStep: 0.03, lostSeconds: 60 },
	since: 7,
};
const UNKNOWN: Hang = { kind: "hung", since: 7, suspect: null };
const SUSPECT = { rank: 3, node: "b", why: "it sleeps", where: null };
const KNOWN: Hang = { ...UNKNOWN, suspect: SUSPECT };

const record = (
	nodeId: string,
	change: Partial<ProgressRecord>,
): ProgressRecord => ({
	...{ version: 1, nodeId, instance: 1, round: 2, workers: [], ...change },
});

it.each<[string, readonly ProgressRecord[], object]>([
	["nothing without records", [], { straggler: null, hang: null }],
	[
		"what any node has found out",
		[record("a", {}), record("b", { straggler: STRAGGLER, hang: UNKNOWN })],
		{ straggler: STRAGGLER, hang: UNKNOWN },
	],
	[
		"the hang whose suspect is known",
		[record("a", { hang: UNKNOWN }), record("b", { hang: KNOWN })],
		{ straggler: null, hang: KNOWN },
	],
	[
		"nothing of an earlier round or start",
		[
			record("a", { hang: KNOWN, round: 1 }),
			record("b", { straggler: STRAGGLER, instance: 0 }),
		],
		{ straggler: null, hang: null },
	],
	[
		"nothing that is no such record",
		[record("a", { hang: { ...KNOWN, since: Number.NaN } })],
		{ straggler: null, hang: null },
	],
])("a run's findings are %s", (_, records, found) => {
	const snapshot = snapshotOf(
		Object.fromEntries(
			records.map((one) => [KEYS.progressOf(one.nodeId), one]),
		),
	);
	const nodes = [nodeStatus("a"), nodeStatus("b")];
	const round = { instance: 1, synced: 2 };
	const sources = { keys: KEYS, snapshot, wallTime: 9, warn: () => {} };
	expect(findingsOf(nodes, round, sources)).toEqual(found);
});
