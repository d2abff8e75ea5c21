import { describe, expect, it } from "vitest";
import {
	expiryOf,
	LeaseKeeper,
	momentOf,
} from "../../../../src/store/etcd/leases.js";
import { VirtualClock } from "../../../helpers/virtual-clock.js";
import { fakeConnections } from "./fake-client.js";

const SENT = { now: 1_000, wallTime: 1_700_000_000_000, asleep: 40_000 };

it.each([
	["at once", 0, 0, 0, 6_000],
	["later, awake all the time", 3_000, 3_000, 0, 6_000],
	["with a wall clock that runs a little fast", 3_000, 3_400, 0, 6_000],
	["after a sleep of 3 s", 500, 3_500, 3_000, 3_000],
	["after a sleep of an hour", 500, 3_600_500, 3_600_000, -3_594_000],
	["with a wall clock that was set back", 3_000, -3_600_000, 0, 6_000],
	["with a wall clock that was set forward", 3_000, 3_600_000, 0, 6_000],
	["after a sleep of 3 s, set back meanwhile", 500, -60_000, 3_000, 3_000],
	["where the sleep seems to have shrunk", 3_000, 60_000, -10, 6_000],
])("a lease of 5 s, asked %s", (_, passed, wallPassed, slept, expiry) => {
	const clock = Object.assign(new VirtualClock(SENT.now + passed), {
		wallTime: () => SENT.wallTime + wallPassed,
		asleep: () => SENT.asleep + slept,
	});
	expect(expiryOf(SENT, 5_000, clock)).toBe(expiry);
});

const TTL_MS = 5_000;
const HEADER = {
	cluster_id: "1",
	member_id: "1",
	revision: "1",
	raft_term: "1",
};

/** Its machine may have slept: the wall's time is then ahead. It is so, too, where somebody has set it. */
class SleepyClock extends VirtualClock {
	sleptMs = 0;
	setByMs = 0;

	override wallTime(): number {
		return super.wallTime() + this.sleptMs + this.setByMs;
	}

	override asleep(): number {
		return this.sleptMs;
	}
}

function keeperOf() {
	const clock = new SleepyClock(0);
	const { connections, clients } = fakeConnections(clock, {
		endpoints: ["a:1", "b:1"],
	});
	const keeper = new LeaseKeeper({
		clock,
		connections,
		token: () => "token",
		onStreamEnd: (client, { details }) => connections.giveUp(client, details),
	});
	const losses: string[] = [];
	const sent: number[] = [];
	const revoked: string[] = [];
	const keep = (id: string, ttlMs = TTL_MS, asOften?: number) =>
		keeper.keep(
			{ id, ttlMs, asOften },
			momentOf(clock),
			{
				onLost: (reason) => losses.push(`${id}: ${reason}`),
				onKeepalive: () => sent.push(clock.now()),
			},
			async () => void revoked.push(id),
		);
	const stream = (client = 0, place = 0) => {
		const found = clients[client]?.keepAliveStreams[place];
		if (found === undefined) throw new Error("there is no such stream");
		return found;
	};
	const acknowledge = (id: string, client = 0, place = 0) =>
		stream(client, place).answer({ ID: id, TTL: "5", header: HEADER });
	return {
		...{ clock, clients, keeper, keep },
		...{ losses, sent, revoked, stream, acknowledge },
	};
}

describe("a lease that is kept", () => {
	it("is asked for five times in its life, over one stream for all", async () => {
		const { clock, clients, keep, stream, acknowledge } = keeperOf();
		const lease = keep("1");
		keep("2", 10_000);
		expect(lease.expiresAt).toBe(5_000);
		await clock.advance(999);
		expect(clients).toEqual([]);
		for (let second = 1; second <= 4; second++) {
			await clock.advance(second === 1 ? 1 : 1_000);
			acknowledge("1");
			if (second % 2 === 0) acknowledge("2");
		}
		const asked = stream().requests.map(({ ID }) => ID);
		expect(asked.toSorted()).toEqual(["1", "1", "1", "1", "2", "2"]);
		expect(stream().token).toBe("token");
		expect(clients.flatMap((client) => client.keepAliveStreams)).toHaveLength(
			1,
		);
	});

	it("keeps to the beat of the process as the only one of its store, and else to its own time", async () => {
		const { clock, keep, sent, acknowledge } = keeperOf();
		await clock.advance(300);
		keep("1");
		await clock.advance(699);
		expect(sent).toEqual([]);
		await clock.advance(1);
		await clock.advance(400);
		acknowledge("1");
		await clock.advance(600);
		expect(sent).toEqual([1_000, 2_000]);
		acknowledge("1");
		await clock.advance(300);
		keep("2");
		await clock.advance(1_000);
		expect(sent).toEqual([1_000, 2_000, 3_000, 3_300]);
	});

	it("is asked for as often as a shorter one where it is to be, and tells how long an answer took", async () => {
		const { clock, keep, sent, acknowledge } = keeperOf();
		const lease = keep("1", 20_000, TTL_MS);
		await clock.advance(1_300);
		acknowledge("1");
		await clock.advance(700);
		expect(sent).toEqual([1_000, 2_000]);
		expect(lease).toMatchObject({ answeredInMs: 300, expiresAt: 21_000 });
	});

	it("lives from the sending of what was acknowledged, not from the answer", async () => {
		const { clock, keep, acknowledge } = keeperOf();
		const lease = keep("1");
		await clock.advance(1_000);
		await clock.advance(700);
		expect(lease.expiresAt).toBe(5_000);
		acknowledge("1");
		expect(lease.expiresAt).toBe(6_000);
	});

	it("is lost once, where etcd says that it has ended", async () => {
		const { clock, keeper, keep, losses, stream } = keeperOf();
		keep("1");
		await clock.advance(1_000);
		stream().answer({ ID: "1", TTL: "0", header: HEADER });
		stream().answer({ ID: "1", TTL: "0", header: HEADER });
		keeper.lose("1", "a write was refused");
		expect(losses).toEqual(["1: etcd says that the lease has ended"]);
		expect(clock.nextAlarm).toBeUndefined();
		expect(stream().isOpen).toBe(false);
	});

	it("is asked for no more once it is revoked, and closes the stream as the last one", async () => {
		const { clock, keep, losses, revoked, stream, acknowledge } = keeperOf();
		const lease = keep("1");
		const other = keep("2");
		await clock.advance(1_000);
		acknowledge("1");
		acknowledge("2");
		await lease.revoke();
		await clock.advance(1_000);
		acknowledge("2");
		expect(stream().requests.filter(({ ID }) => ID === "1")).toHaveLength(1);
		await other.revoke();
		expect(stream().isOpen).toBe(false);
		expect(clock.nextAlarm).toBeUndefined();
		expect(revoked).toEqual(["1", "2"]);
		expect(losses).toEqual([]);
	});
});

describe("a keepalive that is not answered", () => {
	it("in a sixth of the lease's life ends the connection, and is sent over the next one at once", async () => {
		const { clock, clients, keep, stream, acknowledge } = keeperOf();
		const lease = keep("1");
		await clock.advance(1_000);
		await clock.advance(833);
		expect(clients[0]?.closedAs).toBeUndefined();
		await clock.advance(1);
		expect(clients[0]?.closedAs?.details).toBe(
			"the connection was given up: no keepalive was answered within 833 ms",
		);
		await clock.advance(25);
		expect(stream(1).requests).toEqual([{ ID: "1" }]);
		acknowledge("1", 1);
		expect(lease.expiresAt).toBeCloseTo(1_833.3 + 25 + TTL_MS, 0);
	});

	it("because the stream broke is sent again, with those of all other leases that waited", async () => {
		const { clock, clients, keep, stream } = keeperOf();
		keep("1");
		keep("2");
		keep("3", 60_000);
		await clock.advance(1_000);
		stream().end({ code: 14, details: "Connection dropped" });
		expect(clients[0]?.closedAs).toBeDefined();
		await clock.advance(25);
		expect(stream(1).requests).toEqual([{ ID: "1" }, { ID: "2" }]);
	});

	it("is tried ever more slowly, but more often than the lease lapses", async () => {
		const { clock, clients, keep } = keeperOf();
		keep("1");
		await clock.advance(1_000);
		const refuse = () => {
			for (const client of clients) {
				for (const each of client.keepAliveStreams) {
					each.end({ code: 14, details: "refused" });
				}
			}
		};
		for (let ms = 0; ms < 10_000; ms++) {
			refuse();
			await clock.advance(1);
		}
		// 25, 50, 100, and then each 200 ms.
		expect(clients.length).toBeGreaterThan(45);
		expect(clients.length).toBeLessThan(55);
	});
});
