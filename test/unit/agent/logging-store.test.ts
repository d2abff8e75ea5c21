import { beforeEach, describe, expect, it } from "vitest";
import { NewcomerNotice } from "../../../src/agent/joining/newcomer-notice.js";
import { HopelessStoreError } from "../../../src/base/back-off.js";
import { ElasticRunError } from "../../../src/base/errors.js";
import { LoggingStore } from "../../../src/rendezvous/access/logging-store.js";
import {
	lostTooLong,
	reachStore,
	withAdvice,
} from "../../../src/rendezvous/access/reach-store.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import { roundRecord, seatRecord } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const unreachable = (message = "etcd at h:1: connection refused") =>
	new ElasticRunError("STORE_UNREACHABLE", message);

let clock: VirtualClock;
let lines: string[];
const log = {
	warn: (line: string) => lines.push(`warning: ${line}`),
	info: (line: string) => lines.push(line),
};

beforeEach(() => {
	clock = new VirtualClock();
	lines = [];
});

describe("reaching the store at the start", () => {
	const tryFor = async (
		joinTimeoutMs: number,
		call: () => Promise<string>,
	): Promise<string> => {
		const rendezvous = {
			joinTimeoutMs,
			lastCallTimeoutMs: 0,
			settleTimeoutMs: 0,
			leaseTtlMs: 5_000,
		};
		const result = reachStore(call, {
			clock,
			random: () => 0,
			config: { rendezvous },
			say: log.info,
		}).catch((error) => `${error.code}: ${error.message}`);
		await clock.advance(60_000);
		return result;
	};
	const failing = () => Promise.reject(unreachable());

	it("goes on for thirty seconds, and says so every ten", async () => {
		expect(await tryFor(600_000, failing)).toBe(
			"STORE_UNREACHABLE: etcd at h:1: connection refused; tried for 30 s",
		);
		expect(lines).toEqual([
			"still trying, for 10 s: etcd at h:1: connection refused",
			"still trying, for 20 s: etcd at h:1: connection refused",
		]);
	});

	it("ends with the first answer", async () => {
		let calls = 0;
		const call = () => {
			calls += 1;
			return calls < 3 ? failing() : Promise.resolve("there");
		};
		expect(await tryFor(600_000, call)).toBe("there");
		expect(calls).toBe(3);
	});

	it.each([
		[
			"goes on no longer than the join time-out",
			4_000,
			unreachable("no"),
			"no; tried for 4 s",
		],
		[
			"ends a question with its mark",
			4_000,
			unreachable("why?"),
			"why? Tried for 4 s",
		],
		[
			"does not try again where that cannot help",
			600_000,
			new HopelessStoreError("no"),
			"no",
		],
	])("%s", async (_, joinTimeoutMs, error, words) => {
		const call = () => Promise.reject(error);
		expect(await tryFor(joinTimeoutMs, call)).toBe(
			`STORE_UNREACHABLE: ${words}`,
		);
		expect(lines).toEqual([]);
	});

	it("does not try again after any other error", async () => {
		const call = () =>
			Promise.reject(new ElasticRunError("RENDEZVOUS_FAILED", "no"));
		expect(await tryFor(600_000, call)).toBe("RENDEZVOUS_FAILED: no");
	});
});

it("giving a lost store up says after how long", () => {
	const rendezvous = {
		joinTimeoutMs: 600_000,
		lastCallTimeoutMs: 0,
		settleTimeoutMs: 0,
		leaseTtlMs: 5_000,
	};
	const words = (error: Error) => String(lostTooLong(error, { rendezvous }));
	expect(words(unreachable("no answer"))).toContain(
		"no answer; it was lost for longer than join_timeout (600s)",
	);
	const taken = new ElasticRunError("RENDEZVOUS_FAILED", "the id is taken");
	expect(lostTooLong(taken, { rendezvous })).toBe(taken);
});

describe("the advice where a store is out of reach", () => {
	const here = { endpoints: ["localhost:2379"], maxNodes: 2 };
	const there = { endpoints: ["etcd:2379"], maxNodes: 2 };
	const messages = (error: Error, config: typeof here) => {
		const advised = withAdvice(error, config);
		return advised instanceof Error ? advised.message : undefined;
	};

	it("names the variable where each machine would look for its own", () => {
		const error = unreachable("etcd at localhost:2379: connection refused");
		expect(messages(error, here)).toBe(
			"etcd at localhost:2379: connection refused; only agents of this machine can reach etcd at localhost:2379; for several machines set ELASTIC_RUN_RDZV_ENDPOINT=host:2379 on every one",
		);
	});

	it("is not given elsewhere", () => {
		expect(messages(unreachable(), there)).toBe(unreachable().message);
		expect(messages(new Error("other"), here)).toBe("other");
		const refused = new HopelessStoreError("wrong password");
		expect(messages(refused, here)).toBe("wrong password");
	});
});

describe("what is told of a store that is lost", () => {
	class BreakingStore extends MemoryStore {
		problem: Error | undefined;
		refusal: Error | undefined;

		override async snapshot(selectors: readonly string[]) {
			if (this.problem) throw this.problem;
			return super.snapshot(selectors);
		}

		override async transaction(
			...args: Parameters<MemoryStore["transaction"]>
		) {
			if (this.refusal) throw this.refusal;
			return super.transaction(...args);
		}
	}
	let breaking: BreakingStore;
	let store: LoggingStore;
	const look = () => store.snapshot([]).catch(() => {});
	const lookAfter = async (durationMs: number) => {
		await clock.advance(durationMs);
		await look();
	};

	beforeEach(() => {
		breaking = new BreakingStore();
		store = new LoggingStore(breaking, clock, log);
	});

	it("is one line when it is lost and one when it is back", async () => {
		await look();
		breaking.problem = unreachable();
		await look();
		await lookAfter(1_000);
		await lookAfter(1_000);
		await lookAfter(1_000);
		breaking.problem = undefined;
		await lookAfter(500);
		await look();
		expect(lines).toEqual([
			"warning: the store is lost, and is tried again: etcd at h:1: connection refused",
			"the store is back after 3.5 s",
		]);
	});

	it("is nothing where the next try succeeds", async () => {
		await look();
		breaking.problem = unreachable();
		await look();
		breaking.problem = undefined;
		await lookAfter(500);
		breaking.problem = unreachable();
		await lookAfter(900);
		expect(lines).toEqual([]);
	});

	it("is one line where it is read and takes no writes, and one when it takes them again", async () => {
		const write = () => store.transaction([], []).catch(() => {});
		await look();
		await write();
		breaking.refusal = unreachable("etcd at h:1: it says: no space");
		for (let tries = 0; tries < 5; tries++) {
			await write();
			await lookAfter(500);
		}
		// Nobody reads for a while.
		for (let tries = 0; tries < 5; tries++) {
			await write();
			await clock.advance(500);
		}
		await look();
		breaking.refusal = undefined;
		await write();
		await write();
		expect(lines).toEqual([
			"warning: the store answers but takes no writes, which are tried again; until it does, this agent can tell the others nothing: etcd at h:1: it says: no space",
			"the store takes writes again",
		]);
	});

	it("is one line, not two, where neither reads nor writes come through", async () => {
		await look();
		breaking.problem = unreachable();
		breaking.refusal = unreachable();
		for (let tries = 0; tries < 5; tries++) {
			await store.transaction([], []).catch(() => {});
			await lookAfter(500);
		}
		expect(lines).toHaveLength(1);
		expect(lines[0]).toContain("the store is lost");
	});

	it("is nothing before it was ever reached, and of errors that are not the store's", async () => {
		breaking.problem = unreachable();
		await look();
		await lookAfter(5_000);
		expect(lines).toEqual([]);
		breaking.problem = undefined;
		await look();
		breaking.problem = new Error("a bug");
		await look();
		await lookAfter(5_000);
		expect(lines).toEqual([]);
	});
});

describe("who comes to a run that goes on without it", () => {
	const forming = roundRecord();
	const running = roundRecord({ synced: 1, planId: "plan-1" });
	const ended = roundRecord({
		planId: "plan-1",
		outcome: { result: "succeeded", exitCode: 0, reason: "", root: null },
	});
	const seat = seatRecord("a");

	const full = { ...running, seats: 2 };
	const seen = (round: typeof forming, own: typeof seat | null = null) => ({
		round,
		seat: own,
	});
	const place = { ...running, seats: 1 };
	const gone = { ...full, deprecated: full.synced };

	it.each([
		["warned, where a round runs", true, [seen(running), seen(running)], 1],
		[
			"warned, without a seat in the first",
			true,
			[seen(forming), seen(running)],
			1,
		],
		["not warned, where it gets a seat", true, [seen(running, seat)], 0],
		[
			"not warned, where it loses its seat later",
			true,
			[seen(running, seat), seen(running)],
			0,
		],
		["not warned, where the run has ended", true, [seen(ended)], 0],
		[
			"not warned, where a named run has a place",
			false,
			[seen(place), seen(full, seat), seen(full)],
			0,
		],
		[
			"not warned, where it may get the seat of one that has gone",
			false,
			[seen(gone), seen(full, seat)],
			0,
		],
	])("is %s", (_, isRunIdDerived, views, warnings) => {
		const config = { runId: "train-1f3a", isRunIdDerived, maxNodes: 2 };
		const notice = new NewcomerNotice(config, false, log);
		for (const view of views) notice.see(view);
		expect(lines).toHaveLength(warnings);
		for (const line of lines) expect(line).toMatch(/train-1f3a.*--run-id$/);
	});

	it("is told once that it is a spare, where somebody named the run and it is full, unless it was a member", () => {
		const config = { runId: "r", isRunIdDerived: false, maxNodes: 2 };
		for (const isReturning of [true, false]) {
			const notice = new NewcomerNotice(config, isReturning, log);
			for (const round of [place, full, full]) notice.see(seen(round));
		}
		expect(lines).toEqual([
			expect.stringMatching(/run r has as many nodes as --nnodes allows \(2\)/),
		]);
	});
});
