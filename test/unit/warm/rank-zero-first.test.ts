import { expect, it } from "vitest";
import { RankZeroFirst } from "../../../src/warm/rank-zero-first.js";

it("lets the other workers begin once rank 0 has begun or ended", () => {
	const turns = new RankZeroFirst();
	const started: number[] = [];
	const add = (pid: number, rank: string) =>
		turns.add(pid, rank, () => started.push(pid));
	add(10, "0");
	add(11, "1");
	add(12, "2");
	expect(started).toEqual([10]);
	turns.settled(11);
	expect(started).toEqual([10]);
	turns.settled(10);
	expect(started).toEqual([10, 11, 12]);
	add(20, "0");
	add(21, "1");
	expect(started).toEqual([10, 11, 12, 20]);
});

it("lets all workers begin at once where rank 0 is on another node, or goes on", () => {
	const turns = new RankZeroFirst();
	const started: number[] = [];
	for (const rank of ["4", "5", undefined]) {
		turns.add(started.length, rank, () => started.push(started.length));
	}
	expect(started).toEqual([0, 1, 2]);
});
