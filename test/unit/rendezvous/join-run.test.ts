import { beforeEach, describe, expect, it } from "vitest";
import type { Joining } from "../../../src/rendezvous/member/join-run.js";
import {
	Membership,
	type MembershipOptions,
} from "../../../src/rendezvous/member/membership.js";
import { RECREATED } from "../../../src/rendezvous/records/departure-records.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import {
	decodeRecord,
	encodeRecord,
	recordAt,
} from "../../../src/rendezvous/records/record-codec.js";
import {
	NODE,
	type Whereabouts,
} from "../../../src/rendezvous/records/records.js";
import type { RoundView } from "../../../src/rendezvous/records/run-view.js";
import { LeasedStore } from "../../helpers/leased-store.js";
import {
	agentIdentity,
	intentOf,
	runSpec,
} from "../../helpers/run-settings.js";
import { seatRecord } from "../../helpers/run-view.js";
import { settle, VirtualClock } from "../../helpers/virtual-clock.js";

const KEYS = new RunKeys("r");
const GRACE_MS = 6_000;
const SPEC = runSpec({ minNodes: 1, maxNodes: 2, maxRestarts: 0 });

class JoiningAgent extends Membership {
	constructor(
		private readonly joining: Partial<Joining>,
		options: MembershipOptions,
	) {
		super(options);
	}

	override join() {
		return super.join({ isDead: () => false, ...this.joining });
	}
}

describe("joining under a node id", () => {
	let clock: VirtualClock;
	let store: LeasedStore;

	beforeEach(() => {
		clock = new VirtualClock();
		store = new LeasedStore();
	});

	function agent(
		incarnation: string,
		options: Partial<MembershipOptions> = {},
		joining: Partial<Joining> = {},
	): JoiningAgent {
		return new JoiningAgent(joining, {
			store,
			clock,
			runId: "r",
			identity: agentIdentity({
				...{ nodeId: "host", incarnation, hostId: "boot pid:[1]" },
				...{ pid: 7, address: "10.0.0.7" },
			}),
			spec: SPEC,
			reservePort: async () => 4_000,
			random: () => 0,
			coordinating: { onPlanReason: () => {}, onSkipped: () => {} },
			...options,
		});
	}

	const tentative = (incarnation: string, joining: Partial<Joining> = {}) =>
		agent(incarnation, {}, { isNodeIdTentative: true, ...joining });
	const record = async () => {
		const { entries } = await store.snapshot([KEYS.node("host")]);
		const entry = entries.get(KEYS.node("host"));
		return entry && decodeRecord(NODE, entry);
	};
	const coordinator = async () => {
		const { entries } = await store.snapshot([KEYS.coordinator]);
		return entries.get(KEYS.coordinator);
	};
	const ready = (membership: Membership, views: RoundView[] = []) => {
		membership.start({
			onView: (view) => views.push(view),
			onLost: () => {},
			onLongerLease: () => {},
			onError: () => {},
		});
		membership.publish(intentOf());
		return settle();
	};

	const elsewhere = (spec = SPEC) =>
		agent("2", {
			identity: agentIdentity({ nodeId: "other", incarnation: "2" }),
			spec,
		});

	it("writes nothing under a given one before the agent has something to say, where others have begun the run", async () => {
		await elsewhere().join();
		await agent("1").join();
		expect(await record()).toBeUndefined();
	});

	it("reserves a given one at once where it begins the run, or finds nobody else there", async () => {
		const first = agent("1");
		const joined = await first.join();
		if (!("instance" in joined)) throw new Error("it has not joined");
		const { instance } = joined;
		expect(await record()).toMatchObject({ incarnation: "1", instance });
		await first.close();
		expect(await agent("2").join()).toEqual(joined);
		expect(await record()).toMatchObject({ incarnation: "2", instance });
	});

	it("lets one of two that start together in, where their settings differ, and refuses the other", async () => {
		const joined = await Promise.allSettled([
			agent("1").join(),
			elsewhere({ ...SPEC, maxNodes: 3 }).join(),
		]);
		expect(joined.map(({ status }) => status).sort()).toEqual([
			"fulfilled",
			"rejected",
		]);
		const [refused] = joined.flatMap((one) =>
			one.status === "rejected" ? [String(one.reason)] : [],
		);
		expect(refused).toContain("settings differ from the run's: --nnodes: 1:");
	});

	it("refuses settings that differ from those of an agent that has joined a run of which nobody was left, and has said nothing yet", async () => {
		const first = agent("1");
		await first.join();
		await first.close();
		await agent("3").join();
		await expect(elsewhere({ ...SPEC, maxRestarts: 7 }).join()).rejects.toThrow(
			"--max-restarts: 0 there, 7 here",
		);
	});

	it("does not wait for the living holder of a tentative one", async () => {
		await tentative("1").join();
		const before = clock.now();
		expect(await tentative("2").join()).toMatchObject({
			holder: { incarnation: "1" },
		});
		expect(clock.now()).toBe(before);
	});

	it("replaces the record of a process that is gone, so that there is always one", async () => {
		const key = KEYS.node("host");
		const first = agent("1");
		await first.join();
		await ready(first);
		const before = (await store.snapshot([key])).entries.get(key);
		const second = agent("2", {}, { isDead: () => true });
		expect(await second.join()).toHaveProperty("instance");
		expect(await record()).toMatchObject({
			incarnation: "2",
			state: "joining",
		});
		const after = (await store.snapshot([key])).entries.get(key);
		expect(after?.createRevision).toBe(before?.createRevision);
		expect(after?.lease).not.toBe(before?.lease);
		expect(await coordinator()).toBeUndefined();
		await ready(second);
		expect(await record()).toMatchObject({ incarnation: "2", state: "ready" });
	});

	it.each<[string, string, boolean, boolean]>([
		["the process that had its place, which has ended", "1", true, true],
		["no process that may live", "1", false, false],
		["not itself", "2", true, false],
	])("says that %s has died", async (_, seated, isDead, isSaid) => {
		await elsewhere().join();
		const process = { hostId: "h", pid: 7, startTime: "9", address: "a" };
		const seat = seatRecord("host", { incarnation: seated, process });
		await store.transaction(
			[],
			[{ put: KEYS.seat("host"), value: encodeRecord(seat) }],
		);
		const seen: unknown[] = [];
		const second = agent(
			"2",
			{},
			{
				isDead: (other) => {
					seen.push(other);
					return isDead;
				},
			},
		);
		await second.join();
		const { entries } = await store.snapshot([KEYS.leftBy("host")]);
		const died = recordAt(RECREATED, { entries }, KEYS.leftBy("host"));
		expect(died).toEqual(
			isSaid ? { version: 1, incarnation: "1", died: true } : undefined,
		);
		expect(seen).toEqual(seated === "2" ? [] : [process]);
	});

	it.each<[string, Partial<MembershipOptions>, string]>([
		["on this machine", {}, "on this machine"],
		[
			"elsewhere",
			{
				identity: {
					nodeId: "host",
					incarnation: "2",
					hostId: "boot pid:[2]",
					pid: 7,
					startTime: "1",
					address: "10.0.0.8",
					localWorldSize: 1,
					role: "default",
				},
			},
			"on the machine at 10.0.0.7",
		],
	])("waits for the holder of a given one, then names it: %s", async (_, options, where) => {
		const first = agent("1");
		await first.join();
		await ready(first);
		const began = clock.now();
		const refused = agent("2", options)
			.join()
			.catch((error: Error) => `${clock.now() - began}: ${error.message}`);
		await clock.advance(2 * GRACE_MS);
		expect(await refused).toBe(
			`${GRACE_MS}: node id host is taken by pid 7 ${where}; give this agent another --node-id`,
		);
	});

	it("takes no holder of a lease for gone because its machine seems to have been booted again: a copy of it may have", async () => {
		const identity = { nodeId: "host", incarnation: "1", machineId: "m" };
		await agent("1", { identity: agentIdentity(identity) }).join();
		const isDead = ({ machineId }: Whereabouts) => machineId === "m";
		expect(await tentative("2", { isDead }).join()).toMatchObject({
			holder: { incarnation: "1" },
		});
	});

	it("waits for the holder of a given one as long as its lease lives, where that is longer than the run's", async () => {
		const holder = agentIdentity({ nodeId: "host", leaseTtlMs: 20_000 });
		const first = agent("1", { identity: holder });
		await first.join();
		const began = clock.now();
		const refused = agent("2")
			.join()
			.catch(() => clock.now() - began);
		await clock.advance(30_000);
		expect(await refused).toBe(21_000);
	});

	it("waits for the holder of a given one as long as the store lets leases live, where that is longer than was asked for", async () => {
		const first = agent("1");
		await first.join();
		await ready(first);
		const began = clock.now();
		const grantedMs = 8_000;
		const openLease = store.openLease.bind(store);
		store.openLease = () => openLease(grantedMs);
		const refused = agent("2")
			.join()
			.catch(() => clock.now() - began);
		await clock.advance(2 * grantedMs);
		expect(await refused).toBe(grantedMs + 1_000);
	});
});
