import { describe, expect, it } from "vitest";
import {
	planStop,
	stopRun,
} from "../../../src/rendezvous/member/write-stop.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { encodeRecord } from "../../../src/rendezvous/records/record-codec.js";
import type { RoundRecord } from "../../../src/rendezvous/records/records.js";
import type { Compare, Write } from "../../../src/store/store.js";
import { LeasedStore } from "../../helpers/leased-store.js";
import {
	historyRecord,
	nodeRecord,
	roundRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const REASON = "elastic-run stop by me on host";
const NOW = 9_000;
const END = { result: "stopped", exitCode: 5, reason: REASON } as const;
const STOPPED = { ...END, root: null, endedAt: NOW };
const RUNNING = { synced: 1, planId: "plan-1", seats: 1 };

describe("what stopping a run writes", () => {
	it("ends the round that runs, too: in the history, with since when it ran", () => {
		const view = runView(
			RUNNING,
			[nodeRecord("a", { state: "running", since: 4_000 })],
			{ seats: { a: seatRecord("a") }, story: historyRecord() },
		);
		const { round, story } = planStop(view, END, NOW);
		expect(round).toEqual({ ...view.round, outcome: STOPPED });
		expect(story).toEqual(
			historyRecord({
				...{ startedAt: 4_000, endedAt: NOW, ending: REASON },
				outcome: "stopped",
			}),
		);
	});
});

/** A store in which somebody else is faster, once. */
class RacedStore extends LeasedStore {
	raced: Write | undefined;

	override async transaction(compares: Compare[], writes: Write[]) {
		const { raced } = this;
		this.raced = undefined;
		if (raced !== undefined) await super.transaction([], [raced]);
		return super.transaction(compares, writes);
	}
}

describe("stopping a run", () => {
	const keys = new RunKeys("r");
	const put = (round: Partial<RoundRecord>): Write => ({
		put: keys.round,
		value: encodeRecord(roundRecord(round)),
	});
	const raced = async (meanwhile: Partial<RoundRecord>) => {
		const store = new RacedStore();
		await store.transaction([], [put({ instance: 3, synced: 1 })]);
		store.raced = put(meanwhile);
		const clock = new VirtualClock();
		const stopped = await stopRun({ store, keys, clock, reason: REASON });
		const { entries } = await store.snapshot([keys.round]);
		const text = entries.get(keys.round)?.value ?? "";
		const round: RoundRecord = JSON.parse(text);
		return { stopped, round };
	};

	it("loses nothing of what the coordinator writes at the same time", async () => {
		const { stopped, round } = await raced({ instance: 3, synced: 2 });
		expect(round).toMatchObject({ synced: 2, outcome: { exitCode: 5 } });
		expect(stopped).toEqual({ instance: 3, outcome: round.outcome });
	});

	it("leaves an outcome that was written at the same time", async () => {
		const outcome = { ...STOPPED, result: "succeeded", exitCode: 0 } as const;
		const { stopped, round } = await raced({ instance: 3, outcome });
		expect(round.outcome).toEqual(outcome);
		expect(stopped).toEqual({ instance: 3, outcome });
	});
});
