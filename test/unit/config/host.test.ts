import { expect, it } from "vitest";
import { isHangupIgnored } from "../../../src/config/host.js";

const statusOf = (mask: string) =>
	`Name:\tbash\nSigBlk:\t0000000000000001\nSigIgn:\t${mask}\nSigCgt:\t0000000000000001\n`;

it.each<[boolean, string, Record<string, string>, string | undefined]>([
	[false, "a shell's own path", { _: "/usr/bin/elastic-run" }, undefined],
	[false, "nothing known", {}, undefined],
	[true, "nohup elastic-run", { _: "/usr/bin/nohup" }, undefined],
	[false, "a program of a like name", { _: "/opt/nohup-not" }, undefined],
	[true, "a script under nohup", { _: "/bin/x" }, statusOf("0000000000000001")],
	[true, "that ignores more", {}, statusOf("0000000000001007")],
	[false, "that ignores others", {}, statusOf("0000000000001006")],
	[false, "a status of another kind", {}, "Name:\tbash\n"],
])("%s: %s", (expected, _name, environment, status) => {
	const origin = { environment, parentStatus: status };
	expect(isHangupIgnored({ ...origin, isInputUnreadable: false })).toBe(
		expected,
	);
});

it("true: nohup from a shell that tells nothing, on a terminal", () => {
	const origin = { environment: {}, parentStatus: undefined };
	expect(isHangupIgnored({ ...origin, isInputUnreadable: true })).toBe(true);
});
