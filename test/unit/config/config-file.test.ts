import { expect, test } from "vitest";
import { distrust } from "../../../src/config/config-file.js";

test.each([
	["own, for the owner only", 1000, 0o100600, undefined],
	["own, readable by all", 1000, 0o100644, undefined],
	["root's", 0, 0o100644, undefined],
	["another user's", 1001, 0o100600, "it belongs to user 1001"],
	[
		"own, but the group may write it",
		1000,
		0o100664,
		"other users of its group may write it (mode 0664)",
	],
	[
		"root's, but all may write it, as in /tmp",
		0,
		0o041777,
		"every user may write it (mode 1777)",
	],
])("a file or directory that is %s", (_, uid, mode, words) => {
	expect(distrust("it", { uid, mode }, 1000)).toBe(words);
});

test("root trusts root alone", () => {
	const file = { uid: 1000, mode: 0o100600 };
	expect(distrust("it", file, 0)).toBe("it belongs to user 1000");
});
