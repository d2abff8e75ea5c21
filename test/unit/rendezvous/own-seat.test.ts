import { describe, expect, it } from "vitest";
import { ownSeat } from "../../../src/rendezvous/member/session.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type { Seat } from "../../../src/rendezvous/records/records.js";
import { nodeRecord, seatRecord } from "../../helpers/run-view.js";

const KEYS = new RunKeys("r");
const OWN = nodeRecord("a", { localWorldSize: 2 });

function seatFound(seat: Seat): Seat | null {
	const key = KEYS.seat("a");
	const entry = {
		...{ key, value: JSON.stringify(seat), lease: null },
		...{ createRevision: 1, modRevision: 1 },
	};
	return ownSeat({ entries: new Map([[key, entry]]) }, KEYS, OWN);
}

describe("an agent's own seat", () => {
	it.each<[string, Seat, boolean]>([
		["is one of this process", seatRecord("a"), true],
		[
			"is none of another process",
			seatRecord("a", { incarnation: "a-2" }),
			false,
		],
		[
			"is one that was refused to this process",
			{ version: 1, incarnation: "a-1", refused: "spent" },
			true,
		],
	])("%s", (_, seat, isOwn) => {
		expect(seatFound(seat)).toEqual(isOwn ? seat : null);
	});

	it("is garbled where it has more or fewer workers than the node", () => {
		for (const localWorldSize of [1, 3, 1_000_000]) {
			const seat = seatRecord("a", { localWorldSize });
			expect(() => seatFound(seat)).toThrow(
				`/elastic-run/r/seats/a is garbled: its localWorldSize is ${localWorldSize}`,
			);
		}
	});
});
