import { describe, expect, it } from "vitest";
import {
	type AgentState,
	INITIAL_STATE,
} from "../../../src/agent/machine/state.js";
import { openLedger } from "../../../src/agent/open-steps.js";
import type { StartSource } from "../../../src/model/start.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { LEDGER } from "../../../src/rendezvous/records/ledger-record.js";
import {
	encodeRecord,
	recordAt,
} from "../../../src/rendezvous/records/record-codec.js";
import type { WorkerSteps } from "../../../src/steps/worker-steps.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import { ledgerRecord } from "../../helpers/ledger-record.js";
import { roundRecord, seatRecord } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";
import { workerSlot } from "../../helpers/worker-slots.js";

const KEYS = new RunKeys("r");

function open(synced = 0) {
	const clock = new VirtualClock(1_000);
	const store = new MemoryStore();
	let stragglerMs = 0;
	const starts: StartSource = {
		startsIn: (round) => (round === 2 ? { warm: 1, cold: 0 } : undefined),
		next: { start: "importing" },
		onChange: () => {},
		stepped: () => {},
	};
	const ledger = openLedger(
		KEYS,
		{ clock, store, config: { nodeId: "a" }, arrivedAt: 900, starts },
		{ lostMsIn: ({ round }) => round * stragglerMs },
	);
	const lag = (ms: number) => {
		stragglerMs = ms;
	};
	const view = {
		...{ round: roundRecord({ synced }), roundRevision: 1, seat: undefined },
		...{ coordinator: undefined, waiting: undefined },
	} as unknown as NonNullable<AgentState["view"]>;
	const base = { ...INITIAL_STATE, view, instance: 1, claim: synced + 1 };
	const run = (round: number, groupRank = 0) =>
		ledger.follow({
			...{ ...base, phase: "RUNNING", round },
			...{ seat: seatRecord("a", { groupRank }), workers: [workerSlot(0)] },
		});
	const say = (at: number, busy?: string) =>
		ledger.announced(
			"w",
			{
				...({ kind: "PROGRESS", sequence: 1, timestamp: 1 } as const),
				...(busy === undefined ? { step: 1 } : { busy, for_seconds: 60 }),
			},
			at,
		);
	const join = (status: "gone" | "paused" = "gone") =>
		ledger.follow({ ...base, workers: [workerSlot(0, { status })] });
	const step = (number: number) =>
		ledger.stepped("w", {
			...{ source: "report", step: number, at: clock.now() },
		} as WorkerSteps);
	const read = async (round: number, nodeId = "a") =>
		recordAt(
			LEDGER,
			await store.snapshot([KEYS.prefix]),
			KEYS.ledgerOf(round, nodeId),
		);
	const written = async (round: number) => {
		const { entries } = await store.snapshot([KEYS.prefix]);
		const entry = entries.get(KEYS.ledgerOf(round, "a"));
		return entry && entry.modRevision - entry.createRevision + 1;
	};
	return { clock, store, ledger, run, join, step, say, lag, read, written };
}

const FURTHEST = { step: 50, source: "report" } as const;

/** Another node came to step 50 in round 4; this one makes steps 41, 50 and 51 in round 5. */
async function repeat({ clock, store, run, step }: ReturnType<typeof open>) {
	const steps = { first: 1, furthest: FURTHEST, firstAt: 5, newAt: 5 };
	const record = ledgerRecord({ nodeId: "b", round: 4, steps });
	const put = KEYS.ledgerOf(4, "b");
	await store.transaction([], [{ put, value: encodeRecord(record) }]);
	run(5);
	await clock.advance(10);
	step(41);
	await clock.advance(10);
	step(50);
	await clock.advance(20_000);
	step(51);
	await clock.advance(20_000);
}

describe("the ledger that an agent keeps", () => {
	it("is written at most once in ten seconds", async () => {
		const { clock, run, step, read, written } = open();
		run(1);
		for (let second = 1; second <= 25; second++) {
			await clock.advance(1_000);
			step(second);
		}
		expect(await written(1)).toBe(3);
		const record = await read(1);
		expect(record).toMatchObject({
			...{ nodeId: "a", round: 1, arrivedAt: 900, startedAt: 1_000 },
			steps: { first: 1, firstAt: 2_000 },
			stages: { start: { ms: 1_000 } },
		});
	});

	it("is complete soon after the end of a round, and has the next one beside it", async () => {
		const { clock, run, join, step, read } = open();
		run(1);
		await clock.advance(100);
		step(7);
		await clock.advance(100);
		join("paused");
		run(2);
		step(7);
		await clock.advance(1_000);
		expect(await read(1)).toMatchObject({
			...{ ranUntil: 1_200, stoppedAt: 1_200, after: "paused", before: null },
		});
		await clock.advance(10_000);
		expect(await read(2)).toMatchObject({
			...{ before: { step: 7 }, steps: { first: 7, newAt: null } },
		});
	});

	it("has what the steps of its round waited for a slow rank", async () => {
		const { clock, run, join, step, lag, read } = open();
		run(1);
		step(7);
		lag(40.4);
		await clock.advance(10_000);
		expect(await read(1)).toMatchObject({ stragglerMs: 40 });
		lag(60);
		join();
		lag(90);
		run(2);
		await clock.advance(10_000);
		expect(await read(1)).toMatchObject({ stragglerMs: 60 });
		expect(await read(2)).toMatchObject({
			...{ stragglerMs: 180, starts: { warm: 1, cold: 0 } },
		});
	});

	it("keeps the reports of one worker in their order, whatever the clock's fractions are", async () => {
		const { clock, run, step, say, join, read } = open();
		run(1);
		await clock.advance(100);
		step(1);
		say(1_099.4, "save");
		await clock.advance(50);
		say(1_150);
		await clock.advance(50);
		join();
		await clock.advance(1_000);
		expect(await read(1)).toMatchObject({
			...{ saves: 1, stages: { open: { savingMs: 50 } } },
		});
	});

	it("has the agent's end once it is closed", async () => {
		const { clock, run, ledger, read } = open();
		run(1);
		await clock.advance(100);
		await ledger.close();
		expect(await read(1)).toMatchObject({ leftAt: 1_100 });
	});

	it("learns how far others came in rounds that its node was out of", async () => {
		const ledger = open(5);
		const { clock, run, join, step, read } = ledger;
		run(3);
		await clock.advance(10);
		step(20);
		join();
		await repeat(ledger);
		expect(await read(5)).toMatchObject({
			...{ before: FURTHEST, stages: { again: { ms: 10 } } },
		});
	});

	it("is forgotten as the history is", async () => {
		const { clock, store, run, read } = open(204);
		for (const nodeId of ["a", "b"]) {
			const record = ledgerRecord({ nodeId, round: 5 });
			const put = KEYS.ledgerOf(5, nodeId);
			await store.transaction([], [{ put, value: encodeRecord(record) }]);
		}
		run(205, 1);
		await clock.advance(1);
		expect(await read(5, "b")).toBeDefined();
		run(205, 0);
		run(206, 0);
		await clock.advance(1);
		expect(await read(5, "b")).toBeDefined();
		run(205, 0);
		await clock.advance(1);
		expect(await read(5, "b")).toBeUndefined();
	});
});
