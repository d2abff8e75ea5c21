import { describe, expect, it } from "vitest";
import {
	type CheckpointFile,
	checkpointFileName,
	claimFileName,
	filesToDelete,
	loadOrder,
	parseCheckpointFileName,
	parseClaimFileName,
	parseTemporaryFileName,
	type RoundClaim,
} from "../../../src/checkpoint/order.js";

/** Files of instance 1 written as "round/step". */
const file = (text: string): CheckpointFile => {
	const [round = 0, step = 0] = text.split("/").map(Number);
	const position = { instance: 1, round, step };
	return { ...position, name: checkpointFileName(position) };
};
const text = ({ round, step }: CheckpointFile) => `${round}/${step}`;
const claim = (round: number, base: string | null | undefined): RoundClaim => ({
	instance: 1,
	round,
	base: typeof base === "string" ? file(base).name : base,
	claimedAt: 0,
});

describe("names", () => {
	const position = { instance: 1795163940000, round: 4, step: 400 };

	it("carry instance, round and step", () => {
		const name = checkpointFileName(position);
		expect(name).toBe(
			"checkpoint-0001795163940000-0000000004-0000000000000400.ckpt",
		);
		expect(parseCheckpointFileName(name)).toEqual({ ...position, name });
		expect(parseClaimFileName(claimFileName(position))).toEqual({
			instance: 1795163940000,
			round: 4,
		});
	});

	it.each([
		"model.ckpt",
		"checkpoint-1-2-3.ckpt",
		"round-4.json",
		".x.0a.tmp",
	])("of others are left alone: %s", (name) => {
		expect(parseCheckpointFileName(name)).toBeUndefined();
		expect(parseClaimFileName(name)).toBeUndefined();
		expect(parseTemporaryFileName(name)).toBeUndefined();
	});
});

describe("the order in which checkpoints are tried", () => {
	it.each<{
		name: string;
		files: string[];
		claims: RoundClaim[];
		order: string[];
	}>([
		{
			name: "the newest first: round before step",
			files: ["1/50", "2/40", "1/100", "2/60"],
			claims: [],
			order: ["2/60", "2/40", "1/100", "1/50"],
		},
		{
			name: "without what a stale writer added behind the claimed one",
			files: ["1/50", "1/100"],
			claims: [claim(2, "1/50")],
			order: ["1/50"],
		},
		{
			name: "with the claiming round's own",
			files: ["1/50", "1/100", "2/60"],
			claims: [claim(2, "1/50")],
			order: ["2/60", "1/50"],
		},
		{
			name: "nothing of older rounds where a round began without any",
			files: ["1/100"],
			claims: [claim(2, null)],
			order: [],
		},
		{
			name: "everything where the claimed file is gone",
			files: ["1/60", "1/70"],
			claims: [claim(2, "1/50")],
			order: ["1/70", "1/60"],
		},
		{
			name: "everything where the claim cannot be read",
			files: ["1/60"],
			claims: [claim(2, undefined)],
			order: ["1/60"],
		},
	])("$name", ({ files, claims, order }) => {
		expect(loadOrder(files.map(file), claims).map(text)).toEqual(order);
	});
});

describe("what is deleted after a save", () => {
	const deleted = (options: {
		files: string[];
		claims?: RoundClaim[];
		round: number;
		damaged?: string[];
	}) =>
		filesToDelete(
			options.files.map(file),
			options.claims ?? [],
			2,
			{ instance: 1, round: options.round },
			new Set(options.damaged?.map((entry) => file(entry).name)),
		).map(text);

	it("is all but the newest two", () => {
		expect(deleted({ files: ["1/1", "1/2", "1/3"], round: 1 })).toEqual([
			"1/1",
		]);
	});

	it("counts no damaged file among those kept", () => {
		expect(
			deleted({
				files: ["1/1", "1/2", "1/3"],
				round: 1,
				damaged: ["1/2"],
			}),
		).toEqual(["1/2"]);
	});

	it("is what a stale writer added, once there are enough others", () => {
		const claims = [claim(2, "1/50")];
		expect(deleted({ files: ["1/50", "1/99"], claims, round: 2 })).toEqual([]);
		expect(
			deleted({ files: ["1/50", "1/99", "2/60"], claims, round: 2 }),
		).toEqual(["1/99"]);
	});
});
