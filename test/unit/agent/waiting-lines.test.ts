import { describe, expect, it } from "vitest";
import {
	type Finished,
	INITIAL_STATE,
	type Joining,
} from "../../../src/agent/machine/state.js";
import {
	WaitingLines,
	waitingLine,
} from "../../../src/agent/presence/waiting-lines.js";
import { awaits } from "../../../src/rendezvous/records/awaited.js";
import type { RoundRecord } from "../../../src/rendezvous/records/records.js";
import type { WaitingRecord } from "../../../src/rendezvous/records/waiting-record.js";
import { roundRecord } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const told = (change: Partial<WaitingRecord> = {}): WaitingRecord => ({
	version: 1,
	instance: 1,
	...awaits(
		"members",
		{ round: roundRecord({ synced: 1 }) },
		{ minNodes: 1, maxNodes: 2 },
		{ here: ["a"], missing: ["b"] },
	),
	since: 0,
	until: null,
	...change,
});

const joining = (
	round: Partial<RoundRecord>,
	waiting?: WaitingRecord,
): Joining => ({
	...INITIAL_STATE,
	claim: 2,
	view: { round: roundRecord(round), seat: null, waiting },
});

const finished = (
	round: Partial<RoundRecord>,
	waiting?: WaitingRecord,
): Finished => ({
	...INITIAL_STATE,
	...{ phase: "FINISHED", round: 1, planId: "p" },
	...{ instance: 1, failure: null, failuresReported: 0 },
	view: { round: roundRecord(round), seat: null, waiting },
});

describe("what an agent says that waits", () => {
	const open = { synced: 1, deprecated: 1 };
	const running = { synced: 1, deprecated: 0 };
	it.each<[string, Joining | Finished, string | undefined]>([
		["nothing before it has seen the run", INITIAL_STATE, undefined],
		["what it was told", joining(open, told()), "waiting for b: a is here"],
		["nothing as a spare", joining(running), undefined],
		[
			"only its round where it was told nothing",
			joining(open),
			"waiting for round 2 for 20 s",
		],
		[
			"nothing of another instance",
			joining(open, told({ instance: 2 })),
			"waiting for round 2 for 20 s",
		],
		[
			"who is missing when it has finished",
			finished(open, told()),
			"waiting for b: a is here",
		],
		[
			"nothing when it has finished and the others work",
			finished(running),
			undefined,
		],
	])("is %s", (_, state, words) => {
		expect(waitingLine(state, 20_000, 0)).toBe(words);
	});
});

describe("the lines of an agent", () => {
	it("come every 10 s while it waits, the first after 10 s", async () => {
		const clock = new VirtualClock(0);
		const said: string[] = [];
		const info = (line: string) => {
			said.push(`${clock.now() / 1000}: ${line}`);
		};
		const log = { debug: info, info, warn: info, error: info };
		const lines = new WaitingLines({ clock, log });
		lines.follow(INITIAL_STATE);
		await clock.advance(3_000);
		lines.follow(joining({ synced: 1, deprecated: 1 }));
		await clock.advance(20_000);
		lines.follow({
			...INITIAL_STATE,
			...{ phase: "FINISHED", round: 2, planId: "p" },
			...{ view: null, instance: 1, failure: null, failuresReported: 0 },
		});
		await clock.advance(30_000);
		lines.follow(joining({ synced: 2, deprecated: 2 }));
		await clock.advance(10_000);
		expect(said).toEqual([
			"10: waiting for round 2 for 10 s",
			"20: waiting for round 2 for 20 s",
			"63: waiting for round 2 for 10 s",
		]);
		lines.follow({ ...INITIAL_STATE, claim: 3 });
	});
});
