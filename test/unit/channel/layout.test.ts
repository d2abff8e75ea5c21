import { expect, it } from "vitest";
import { networkFileSystemName } from "../../../src/channel/directory-watch.js";
import { sequenceOf, sequencesIn } from "../../../src/channel/layout.js";

it.each([
	"42.json",
	"0000000042.json.tmp",
	".0000000042.json",
	"0000000000.json",
	"-000000042.json",
	"00000000042.json",
	"0000000042.JSON",
	"README",
])("takes %s for none of ours", (name) => {
	expect(sequenceOf(name)).toBeUndefined();
});

it("orders by number and leaves foreign names out", () => {
	const names = ["0000000010.json", "notes", "0000000002.json"];
	expect(sequencesIn(names)).toEqual([2, 10]);
});

it.each([
	[0x6969, "NFS"],
	[0x01021997, "9p"],
	[0xff534d42 | 0, "CIFS"],
	[0xef53, undefined],
	[0x01021994, undefined],
])("knows file system %i as %s", (magic, name) => {
	expect(networkFileSystemName(magic)).toBe(name);
});
