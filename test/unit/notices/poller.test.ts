import { expect, test } from "vitest";
import { Changes } from "../../../src/notices/sources/poller.js";

test("P1 AWS: a recommendation is no notice of the interruption's, and goes by itself", () => {
	const heard: unknown[] = [];
	const changes = new Changes(
		{ source: "aws", withdrawn: "" },
		{
			noticed: ({ origin }) => heard.push(["notice", origin]),
			advised: ({ origin }) => heard.push(["advice", origin]),
			withdrawn: ({ origin }) => heard.push(["gone", origin]),
		},
	);
	const end = { source: "aws", reason: "spot", deadline: 1 } as const;
	const advice = { source: "aws", reason: "reboot", deadline: 9 } as const;
	changes.update({ notice: end });
	changes.update({ notice: end, advice: [advice] });
	changes.update({ notice: end, advice: [advice] });
	changes.update({ notice: end, advice: [{ ...advice, deadline: 8 }] });
	changes.update({ notice: end });
	expect(heard).toEqual([
		["notice", undefined],
		["advice", " advice 9: reboot"],
		["advice", " advice 8: reboot"],
		["gone", " advice 9: reboot"],
		["gone", " advice 8: reboot"],
	]);
});
