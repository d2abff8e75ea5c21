import { expect, it } from "vitest";
import { nextLook } from "../../../src/agent/steps/next-look.js";

it.each([
	["a worker makes steps", { now: 4_000 }, 5_000],
	["at another time of the second: on the agent's beat", { now: 4_300 }, 5_000],
	["it has waited 10 s for a first step", { now: 10_000, since: 0 }, 11_000],
	["it has waited 40 s", { now: 40_100, since: 100 }, 42_000],
	["it has waited an hour", { now: 3_600_000, since: 0 }, 3_605_000],
	["it would stand still before", { now: 4_300, still: 4_650 }, 4_650],
	["it would stand still later", { now: 4_300, still: 9_000 }, 5_000],
	["it has stood still", { now: 4_300, still: 4_000 }, 5_000],
])("looks again after a while where %s", (_, times, at) => {
	const { now, since, still } = { since: times.now, still: 0, ...times };
	expect(nextLook(now, since, still)).toBe(at);
});
