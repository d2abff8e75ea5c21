import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemErrorCode } from "../../../src/base/errors.js";
import { ArrivalIndex } from "../../../src/logs/arrival-index.js";
import { ArrivalTimes } from "../../../src/operate/log-source.js";
import { temporaryFolder } from "../../helpers/processes.js";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
	folder = temporaryFolder();
});
afterEach(() => folder.remove());

const times = () => join(folder.path, "stdout.times");
/** Looks at a log of these sizes at these times; the first one is what was there before. */
function lookAt(...looks: readonly (readonly [size: number, time: number])[]) {
	const [[size, time] = [0, 0], ...later] = looks;
	const errors: unknown[] = [];
	const log = join(folder.path, "stdout.log");
	const index = new ArrivalIndex(log, size, time, (error) =>
		errors.push(systemErrorCode(error)),
	);
	for (const look of later) index.saw(...look);
	return errors;
}

describe("the times at which lines of a log came", () => {
	it.each<[string, [size: number, time: number][], string]>([
		[
			"begin with the last look before they came",
			[
				[0, 1_000],
				[5, 1_200],
			],
			"0 1000\n",
		],
		[
			"are told once a second",
			[
				[0, 0],
				[5, 200],
				[9, 400],
				[20, 1_300],
			],
			"0 0\n9 400\n",
		],
		[
			"are those after a rest",
			[
				[0, 0],
				[5, 200],
				[5, 9_000],
				[8, 9_200],
			],
			"0 0\n5 9000\n",
		],
		[
			"begin again in a file that was emptied",
			[
				[9, 0],
				[12, 100],
				[3, 300],
			],
			"9 0\n0 100\n",
		],
		[
			"of a clock that was set back are told",
			[
				[0, 9_000],
				[5, 9_100],
				[7, 2_000],
			],
			"0 9000\n5 9100\n",
		],
	])("%s", (_, looks, told) => {
		lookAt(...looks);
		expect(readFileSync(times(), "utf8")).toBe(told);
	});

	it.each<[string, string, () => void]>([
		[
			"a link",
			"ELOOP",
			() => symlinkSync(join(folder.path, "elsewhere"), times()),
		],
		["a directory", "EISDIR", () => mkdirSync(times())],
	])("are not written where there is %s in their place, and it is told: %s", (_, code, spoil) => {
		spoil();
		expect(lookAt([0, 0], [5, 200], [9, 300], [12, 2_000])).toEqual([
			code,
			code,
		]);
		const found = new ArrivalTimes(times());
		found.refresh();
		expect(found.at(0)).toBeUndefined();
	});
});
