import { expect, it } from "vitest";
import { handsOver } from "../../../src/rendezvous/planner/departures.js";
import type {
	NodeRecord,
	Outcome,
} from "../../../src/rendezvous/records/records.js";
import { nodeRecord, runView } from "../../helpers/run-view.js";

const SELF = { nodeId: "a", incarnation: "a-1" };
const OUTCOME: Outcome = {
	result: "stopped",
	exitCode: 5,
	reason: "asked to",
	root: null,
};

it.each<
	[
		string,
		Partial<NodeRecord> | undefined,
		NodeRecord["state"][],
		Outcome | null,
		boolean,
	]
>([
	["stays while its node does", { state: "running" }, ["running"], null, false],
	[
		"resigns when its node leaves",
		{ state: "leaving" },
		["running"],
		null,
		true,
	],
	[
		"resigns in favour of one that only waits",
		{ state: "leaving" },
		["leaving", "ready"],
		null,
		true,
	],
	["stays where nobody else is there", { state: "leaving" }, [], null, false],
	["stays where all leave", { state: "leaving" }, ["leaving"], null, false],
	[
		"stays where the run is over: nobody plans any more",
		{ state: "leaving" },
		["running"],
		OUTCOME,
		false,
	],
	["stays where it has no record yet", undefined, ["running"], null, false],
	[
		"does not take another's record for its own",
		{ state: "leaving", incarnation: "a-2" },
		["running"],
		null,
		false,
	],
])("a coordinator %s", (_, own, others, outcome, resigns) => {
	const nodes = others.map((state, n) => nodeRecord(`n${n}`, { state }));
	const view = runView({ outcome }, [
		...(own ? [nodeRecord("a", own)] : []),
		...nodes,
	]);
	expect(handsOver(view, SELF)).toBe(resigns);
});
