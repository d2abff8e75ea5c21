import { expect, it } from "vitest";
import { SignalMeaning } from "../../bin/stop-signals.js";

type Take = readonly [signal: NodeJS.Signals, at: number, request: string];

it.each<[string, Take[]]>([
	["one signal", [["SIGTERM", 5, "stop"]]],
	[
		"the same one twice within 10 ms is one request",
		[
			["SIGINT", 0, "stop"],
			["SIGINT", 10, "same"],
		],
	],
	[
		"the same one once more after a second is a second request",
		[
			["SIGINT", 0, "stop"],
			["SIGINT", 999, "same"],
			["SIGINT", 1_000, "kill"],
			["SIGINT", 1_001, "kill"],
		],
	],
	[
		"another one is a second request at once",
		[
			["SIGTERM", 0, "stop"],
			["SIGINT", 1, "kill"],
		],
	],
])("signals to the launcher: %s", (_, takes) => {
	const meaning = new SignalMeaning();
	const taken = takes.map(([signal, at]) => meaning.take(signal, at));
	expect(taken).toEqual(takes.map(([, , expected]) => expected));
});

it("takes the first SIGTERM for a notice where it leaves time, and each later signal for more haste", () => {
	const takes: Take[] = [
		["SIGTERM", 0, "notice"],
		["SIGTERM", 10, "same"],
		["SIGTERM", 5_000, "stop"],
		["SIGTERM", 5_010, "same"],
		["SIGINT", 5_020, "kill"],
	];
	const meaning = new SignalMeaning("SIGTERM");
	const taken = takes.map(([signal, at]) => meaning.take(signal, at));
	expect(taken).toEqual(takes.map(([, , expected]) => expected));
	expect(new SignalMeaning("SIGTERM").take("SIGINT", 0)).toBe("stop");
});
