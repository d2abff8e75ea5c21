import { expect, it } from "vitest";
import type { Member, Sight } from "../../../src/hosting/gateway.js";
import {
	judgeEntry,
	judgeUse,
	type UseMemory,
} from "../../../src/hosting/keeper.js";

/** After how many seconds of these sights, one each second, etcd is needed no longer; undefined: it still is. */
function endsAfter(
	sights: readonly Sight[],
	{ idleMs = 60_000, rideOutMs = 0, hasLeft = false } = {},
): number | undefined {
	let memory: UseMemory = { usedAt: 0, lookedAt: 0, silentMs: 0 };
	for (const [index, sight] of sights.entries()) {
		const now = (index + 1) * 1_000;
		const judged = judgeUse(memory, sight, now, {
			...{ idleMs, rideOutMs, hasLeft },
		});
		if (judged.isDone) return now / 1_000;
		memory = judged.memory;
	}
	return undefined;
}

const times = (count: number, sight: Sight) => Array<Sight>(count).fill(sight);

it.each<[string, readonly Sight[], number | undefined]>([
	["in use", times(500, "used"), undefined],
	["five seconds after the run's end", ["used", ...times(9, "over")], 7],
	[
		"not when the run begins again",
		["over", "over", "used", ...times(4, "over")],
		undefined,
	],
	[
		"not when the run begins again and is deserted",
		["over", ...times(20, "deserted")],
		undefined,
	],
	[
		"also where the others of the cluster went first",
		["used", "over", ...times(9, "unknown")],
		7,
	],
	["deserted for too long", ["used", ...times(70, "deserted")], 61],
	["without a majority for too long", ["used", ...times(70, "unknown")], 61],
	[
		"not for an outage",
		["used", ...times(50, "unknown"), "used", ...times(50, "unknown")],
		undefined,
	],
])("etcd is ended: %s", (_, sights, seconds) => {
	expect(endsAfter(sights)).toBe(seconds);
});

it.each<[string, readonly Sight[], number | undefined]>([
	["not while rounds go on without it", times(640, "unknown"), undefined],
	[
		"not at once where it answers again, for those who come back to it",
		["used", ...times(500, "unknown"), ...times(59, "deserted")],
		undefined,
	],
	["silent for longer than any round goes on", times(700, "unknown"), 660],
	[
		"deserted for too long, whenever it was silent",
		["used", ...times(500, "unknown"), ...times(90, "deserted")],
		561,
	],
	[
		"silent after it was deserted, when no round goes on",
		["used", ...times(30, "deserted"), ...times(90, "unknown")],
		61,
	],
])("where rounds ride out an outage, etcd is ended: %s", (_, sights, seconds) => {
	expect(endsAfter(sights, { rideOutMs: 600_000 })).toBe(seconds);
});

it("is ended soon where its agent has left in order, and nobody else is there", () => {
	const hasLeft = true;
	expect(endsAfter(["used", ...times(30, "deserted")], { hasLeft })).toBe(11);
	expect(
		endsAfter(["used", "deserted", ...times(30, "unknown")], { hasLeft }),
		"the others of the cluster went first",
	).toBe(11);
	expect(endsAfter(times(100, "used"), { hasLeft })).toBeUndefined();
	expect(
		endsAfter(["used", ...times(30, "unknown")], { hasLeft }),
	).toBeUndefined();
});

const listed = (number: number, parts: Partial<Member> = {}): Member => ({
	id: `${number}`,
	name: `elastic-run.r.${number}`,
	peerUrls: [`http://node-${number}:2380`],
	clientUrls: [`http://node-${number}:2379`],
	...parts,
});

// As etcd 3.4 lists them: a first member has its name from the start, one that was added has none until it serves.
it.each([
	["nobody answers", [], "unknown"],
	[
		"it is awaited since the start",
		[listed(1), listed(0, { clientUrls: [] })],
		"founder",
	],
	[
		"it was added, and its keeper died",
		[listed(1), listed(0, { clientUrls: [], name: "" })],
		"added",
	],
	["it has served before", [listed(1), listed(0)], { lost: "0" }],
	["it was removed, and not added yet", [listed(1)], { lost: undefined }],
])("a member without data: %s", (_, members, entry) => {
	expect(judgeEntry(members, "http://node-0:2380")).toEqual(entry);
});
