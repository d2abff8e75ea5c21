import { expect, it } from "vitest";
import {
	asStandIn,
	causeOf,
	describeHang,
} from "../../../src/hangs/verdict.js";
import type { HangKind } from "../../../src/model/hang.js";

const WHY = "in kernel state D, which no signal ends (it waits in nfs_wait)";

it.each<[string, HangKind, string | null, string]>([
	["its place", "hung", "a.py:4 in f", "hung for 61 s at a.py:4 in f"],
	["why it is the suspect without one", "hung", null, `hung for 61 s: ${WHY}`],
	["the same of a slow one", "slow", null, `slow: no step for 61 s: ${WHY}`],
	["why it stopped", "stopped", null, `hung for 61 s: ${WHY}`],
	["both of a mismatch", "mismatch", "f", `hung for 61 s at f: ${WHY}`],
])("A5 a hang's first line tells %s", (_, kind, where, description) => {
	const suspect = { rank: 1, node: "a", why: WHY, where };
	const verdict = { kind, suspects: [suspect], waiting: [0], reason: "why" };
	const about = { stillMs: 61_000, suspect, directory: "/logs" };
	expect(describeHang(verdict, [], about)).toEqual({
		description,
		lines: [
			`suspect: ${WHY}`,
			"rank 0 waits",
			"no step was made",
			"evidence: /logs",
		],
	});
});

it("A5 a rank that is ended in place of a suspect elsewhere is told as that", () => {
	const suspect = { rank: 3, node: "b", why: WHY, where: "a.py:4 in f" };
	const about = { suspects: [suspect], waiting: [], reason: "why" };
	const words = { description: "hung at a.py:4 in f", lines: ["suspect"] };
	const verdict = { kind: "hung", ...about } as const;
	expect(asStandIn(words, suspect, verdict, 61_000)).toEqual({
		description: "hung for 61 s: this rank only stands for rank 3 on b",
		lines: ["b did not end its rank 3", "suspect"],
	});
});

it("J11 rules are told that a worker without steps computes, reads or writes", () => {
	const still = { since: 0, limitMs: 60_000, slowMs: 180_000, stillMs: 61_000 };
	expect(causeOf(still, { kind: "slow" })).toBe("slow");
	expect(causeOf(still, { kind: "stopped" })).toBe("hang");
	const first = { ...still, withoutFirstStep: 0 };
	expect(causeOf(first, { kind: "slow" })).toBe("start");
});
