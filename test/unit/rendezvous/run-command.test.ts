import { describe, expect, it } from "vitest";
import { commandOf } from "../../../src/rendezvous/records/run-command.js";

const KEY = "/elastic-run/r/commands/default";
const COMMAND = {
	...{ version: 1, instance: 7, words: "train.py" },
	...{ argumentsDigest: "a".repeat(64), scriptDigest: "" },
};
const entry = (value: unknown) => ({
	...{ key: KEY, value: JSON.stringify(value), lease: null },
	...{ createRevision: 1, modRevision: 1 },
});

describe("the command of a role that a run holds", () => {
	it("is that of this start of the run", () => {
		expect(commandOf(entry(COMMAND), 7)).toMatchObject({ words: "train.py" });
		expect(commandOf(entry(COMMAND), 8)).toBeUndefined();
		expect(commandOf(undefined, 7)).toBeUndefined();
	});

	it.each([
		[
			"of another version",
			{ ...COMMAND, version: 2 },
			"no record of version 1",
		],
		["without words", { ...COMMAND, words: undefined }, "words is missing"],
		[
			"with a digest that is none",
			{ ...COMMAND, scriptDigest: "\u001b[2J" },
			"scriptDigest",
		],
		[
			"of a start that is no number",
			{ ...COMMAND, instance: "7" },
			'instance is "7"',
		],
	])("stops an agent where it is one %s: another program may run", (_, value, words) => {
		const read = () => commandOf(entry(value), 7);
		expect(read).toThrow(KEY);
		expect(read).toThrow(words);
	});
});
