import { expect, it } from "vitest";
import {
	asStandIn,
	causeOf,
	describeHang,
	hangVerdict,
	slowFor,
} from "../../../src/hangs/verdict.js";
import type { RankEvidence } from "../../../src/model/evidence.js";
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

it("A5 a mismatch without a suspect is told by what the ranks called", () => {
	const reason =
		"ranks called different collectives: some are in a; others in b";
	const verdict = { suspects: [], waiting: [0, 1], reason };
	const about = { stillMs: 61_000, suspect: undefined, directory: undefined };
	const mismatch = { ...verdict, kind: "mismatch" } as const;
	expect(describeHang(mismatch, [], about)).toEqual({
		description: `hung for 61 s: ${reason}`,
		lines: ["ranks 0-1 wait", "no step was made"],
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
	const late = { start: undefined };
	expect(causeOf(late, { kind: "slow" })).toBe("slow");
	expect(causeOf(late, { kind: "stopped" })).toBe("hang");
	const start = {
		localRank: 0,
		isUncounted: false,
		isUsual: false,
		isUnsure: false,
	};
	expect(causeOf({ start }, { kind: "slow" })).toBe("start");
});

it("C5 its stack has the user's lines, and says what they have called", () => {
	const frame = (file: string, name: string, line: number) => ({
		...{ file, line, function: name },
	});
	const library = "/usr/lib/python3.11";
	const frames = [
		frame(`${library}/selectors.py`, "select", 415),
		frame(`${library}/multiprocessing/connection.py`, "wait", 931),
		frame(`${library}/multiprocessing/connection.py`, "_poll", 424),
		frame(`${library}/site-packages/torch/utils/data/x.py`, "_next", 7),
		frame("/job/train.py", "load", 41),
		frame("/job/train.py", "<module>", 60),
	];
	const own = {
		...{ rank: 1, localRank: 0, nodeId: "a", pid: 7, step: 3 },
		...{ activity: "idle" as const, frames, groups: [] },
	};
	const suspect = { rank: 1, node: "a", why: WHY, where: null };
	const verdict = {
		...{ suspects: [suspect], waiting: [], reason: "why" },
		kind: "hung",
	} as const;
	const about = { stillMs: 61_000, suspect, directory: undefined };
	expect(describeHang(verdict, [own], about).lines).toContain(
		`stack: load (/job/train.py:41) < <module> (/job/train.py:60), and from there in select (${library}/selectors.py:415)`,
	);
});

it.each([
	["the rest of three times the limit", 61_000, undefined, 119_000],
	["nothing after that", 180_000, undefined, 0],
	[
		"nothing after that, where the user has limited the start",
		180_000,
		false,
		0,
	],
	["as much again, where nobody has limited the start", 180_000, true, 180_000],
])("A5 slow workers have %s", (_, stillMs, isUsual, leftMs) => {
	const about = { localRank: 0, isUncounted: true, isUnsure: false };
	const start = isUsual === undefined ? undefined : { ...about, isUsual };
	expect(slowFor({ stillMs, slowMs: 180_000, start })).toBe(leftMs);
});

it("A4 a worker without its first step is no suspect while it waits for others", () => {
	const start = {
		localRank: 0,
		isUncounted: true,
		isUsual: false,
		isUnsure: false,
	};
	const rank: RankEvidence = {
		...{ rank: 2, localRank: 0, nodeId: "a", pid: 7, activity: "idle" },
		...{ frames: [], groups: [], where: "a.py:4 in f" },
	};
	const frames = [{ file: "/j/a.py", line: 4, function: "all_reduce" }];
	const about = { nodeId: "a", isWhole: false };
	const named = hangVerdict({ start }, [rank], about);
	expect(named.suspects).toMatchObject([{ rank: 2 }]);
	const waits = hangVerdict({ start }, [{ ...rank, frames }], about);
	expect(waits.suspects).toEqual([]);
	const joining = { ...rank, processGroup: "joining" } as const;
	const joins = hangVerdict({ start }, [joining], about);
	expect(joins).toMatchObject({ suspects: [], waiting: [2] });
	// Of the others nothing is known that says that they wait.
	const gone = { ...rank, rank: 1, localRank: 1, activity: "gone" } as const;
	const silent = { ...rank, rank: 3, localRank: 2 };
	const alone = hangVerdict({ start }, [rank, gone, silent], about);
	expect(alone).toMatchObject({ suspects: [{ rank: 2 }], waiting: [] });
});
