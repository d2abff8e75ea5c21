import { expect, it } from "vitest";
import { Caretaker } from "../../../src/rendezvous/member/coordinator.js";
import type { ReplacedRecord } from "../../../src/rendezvous/records/departure-records.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { nodeRecord, runView } from "../../helpers/run-view.js";

const GONE: ReplacedRecord = {
	...{ version: 1, nodeId: "b", incarnation: "b-1", hostId: "host" },
	...{ address: "b", role: "default", reason: "rule 1", at: 5 },
};
const viewOf = (change: Partial<ReplacedRecord> = {}): RunView => ({
	...runView({}, [nodeRecord("a")], {}),
	replaced: new Map([["b", { ...GONE, ...change }]]),
});

/** A caretaker on node a whose writes get these answers; an error is an answer that was lost. */
function caretaker(...answers: readonly ("written" | "refused" | Error)[]) {
	const cared: (string | undefined)[] = [];
	const left = [...answers];
	const written = async () => {
		const answer = left.shift();
		if (answer instanceof Error) throw answer;
		return { succeeded: answer === "written", revision: 1 };
	};
	const onReplace = ({ caredForBy }: ReplacedRecord) =>
		void cared.push(caredForBy);
	const options = {
		keys: new RunKeys("r"),
		identity: { nodeId: "a", incarnation: "a-1" },
		coordinating: { onPlanReason() {}, onSkipped() {}, onReplace },
	};
	return { cared, care: new Caretaker(options, { write: written }) };
}

const LOST = new Error("no answer in time");
const NOBODY = {};
const OWN = { caredForBy: "a" };
const OTHER = { caredForBy: "c" };

it.each<
	[
		string,
		readonly ("written" | "refused" | Error)[],
		readonly Partial<ReplacedRecord>[],
		number,
	]
>([
	["it has said so", ["written"], [NOBODY, OWN], 1],
	["it is not coordinator any more", ["refused"], [NOBODY, OTHER], 0],
	["no answer has come yet", [LOST], [NOBODY], 0],
	["no answer came, and it is written", [LOST], [NOBODY, OWN, OWN], 1],
	[
		"no answer came, and it is not written",
		[LOST, "written"],
		[NOBODY, NOBODY, OWN],
		1,
	],
	["another one cares by then", [LOST], [NOBODY, OTHER], 0],
	[
		"its place is taken by then",
		[LOST],
		[NOBODY, { ...OWN, replacement: "c" }],
		0,
	],
	["its own process before this one said so", [], [OWN], 0],
])("D1 cares for a replaced node once at most: %s", async (_, answers, views, times) => {
	const { cared, care } = caretaker(...answers);
	for (const view of views) {
		await care.care(viewOf(view)).catch(() => undefined);
	}
	expect(cared).toEqual(Array.from({ length: times }, () => "a"));
});
