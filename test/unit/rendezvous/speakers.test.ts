import { describe, expect, it } from "vitest";
import type { LinkedAgent } from "../../../src/model/index.js";
import { EMPTY_MEMORY } from "../../../src/rendezvous/planner/plan.js";
import { lift, speakersOf } from "../../../src/rendezvous/planner/seats.js";
import { nodeRecord, runView } from "../../helpers/run-view.js";

const link = { address: "10.0.0.1", port: 1, secret: "00" };
const agents = (count: number): readonly LinkedAgent[] =>
	Array.from({ length: count }, (_, rank) => ({
		nodeId: `n${rank}`,
		incarnation: `n${rank}.1`,
		link,
	}));

describe("A6 the speakers of an agent", () => {
	it.each<
		[
			what: string,
			nodes: number,
			rank: number,
			speakers: readonly string[] | undefined,
		]
	>([
		["none where one can hold all links", 32, 31, undefined],
		["none for the head", 33, 0, undefined],
		["the head and its next one for their group", 33, 31, ["n0", "n1"]],
		["the head for its next one", 33, 1, ["n0"]],
		["none for who speaks for a group", 33, 32, undefined],
		["the first for the second of a group", 34, 33, ["n32"]],
		["the first two for all others", 5_000, 4_999, ["n4992", "n4993"]],
	])("are %s", (_, nodes, rank, speakers) => {
		const ids = speakersOf(agents(nodes), rank)?.map(({ nodeId }) => nodeId);
		expect(ids).toEqual(speakers);
	});

	it("are none that cannot be called", () => {
		const some = agents(40).map((one, rank) =>
			rank === 32 ? { ...one, link: undefined } : one,
		);
		expect(speakersOf(some, 39)).toEqual([some[33]]);
	});

	it("stand in the seats of a round, with where they are called", () => {
		const records = agents(34).map(({ nodeId }) =>
			nodeRecord(nodeId, { link }),
		);
		const [head, ...others] = runView({}, records).nodes.values();
		if (head === undefined) expect.unreachable();
		const { plan } = lift(
			runView({}, records),
			[head, ...others],
			"plan-1",
			EMPTY_MEMORY,
		);
		if (plan?.kind !== "lift") expect.unreachable();
		const speaker = others.at(31)?.record;
		const seat = plan.seats.get(others.at(32)?.record.nodeId ?? "");
		expect(seat?.speakers).toEqual([
			{ nodeId: speaker?.nodeId, incarnation: speaker?.incarnation, link },
		]);
		expect(plan.seats.get(head.record.nodeId)?.speakers).toBeUndefined();
	});
});
