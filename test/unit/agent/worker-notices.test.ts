import { expect, it } from "vitest";
import { WorkerNotices } from "../../../src/agent/workers/worker-notices.js";

const GOING = { deadline: 1, source: "azure", reason: "Preempt" };
const STAYS = { deadline: null, source: null, reason: "gone" };

const answer = (kind: "NOTICED" | "ACK", event: number) => ({
	...{ kind, event, sequence: 1, timestamp: 0 },
});

it("P12 a worker that answers a withdrawn notice late is not ready for the next one", () => {
	const notices = new WorkerNotices();
	let sequence = 1;
	const write = () => {
		sequence += 1;
		return sequence;
	};
	notices.tell(GOING, write);
	const first = sequence;
	notices.tell(STAYS, write);
	expect(notices.inputOf(answer("NOTICED", first), 0)).toBeUndefined();
	expect(notices.inputOf(answer("ACK", first), 0)).toBeUndefined();
	notices.tell(GOING, write);
	expect(notices.inputOf(answer("ACK", first), 0)).toBeUndefined();
	expect(notices.inputOf(answer("ACK", sequence), 0)).toEqual({
		kind: "worker-ready",
		localRank: 0,
	});
	// The number of an event of a round leaves all notices out.
	expect(notices.inputOf(answer("ACK", sequence + 1), 0)).toEqual({
		kind: "worker-acknowledged",
		...{ localRank: 0, event: 2 },
	});
});

it("P12 a worker that is started again hears of the notice again, and its first answers are about the round", () => {
	const notices = new WorkerNotices();
	notices.tell(GOING, undefined);
	const told: unknown[] = [];
	const write = (notice: unknown) => {
		told.push(notice);
		return 2 + told.length;
	};
	notices.begin(() => 2);
	notices.begin(write);
	expect(told).toEqual([GOING]);
	expect(notices.inputOf(answer("ACK", 2), 0)).toMatchObject({
		...{ kind: "worker-acknowledged", event: 2 },
	});
	notices.tell(STAYS, write);
	notices.begin(write);
	expect(told).toEqual([GOING, STAYS]);
});

it("P12 an earlier deadline leaves what was said of the notice before it", () => {
	const notices = new WorkerNotices();
	notices.tell(GOING, () => 2);
	notices.tell({ ...GOING, deadline: 0 }, () => 3);
	expect(notices.inputOf(answer("ACK", 2), 0)).toMatchObject({
		kind: "worker-ready",
	});
});
