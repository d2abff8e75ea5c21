import { expect, test } from "vitest";
import { TellChanges } from "../../../src/notices/sources/tell-changes.js";

test("P1 AWS: a recommendation is no notice of the interruption's, and goes by itself", () => {
	const heard: unknown[] = [];
	const tell = new TellChanges(
		{ source: "aws" },
		{
			noticed: ({ origin }) => heard.push(["notice", origin]),
			advised: ({ origin }) => heard.push(["advice", origin]),
			withdrawn: ({ origin }) => heard.push(["gone", origin]),
		},
	);
	const end = { source: "aws", reason: "spot", deadline: 1 } as const;
	const advice = { source: "aws", reason: "reboot", deadline: 9 } as const;
	tell.notice(end, "");
	tell.advice([advice], "");
	tell.advice([advice], "");
	tell.advice([{ ...advice, deadline: 8 }], "");
	tell.advice([], "");
	expect(heard).toEqual([
		["notice", undefined],
		["advice", " advice 9: reboot"],
		["advice", " advice 8: reboot"],
		["gone", " advice 9: reboot"],
		["gone", " advice 8: reboot"],
	]);
});
