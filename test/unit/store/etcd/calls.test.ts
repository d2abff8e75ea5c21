import { describe, expect, it } from "vitest";
import { isHopeless } from "../../../../src/base/back-off.js";
import { Calls, Login } from "../../../../src/store/etcd/calls.js";
import { StatusError } from "../../../../src/store/etcd/errors.js";
import type { EtcdClient } from "../../../../src/store/etcd/etcd-client.js";
import { VirtualClock } from "../../../helpers/virtual-clock.js";
import { fakeConnections } from "./fake-client.js";

const refused = (address: string) =>
	new StatusError({
		code: 14,
		details: `No connection established. Last error: Error: connect ECONNREFUSED ${address}. Resolution note: `,
	});
const UNTRUSTED = new StatusError({
	code: 14,
	details:
		"No connection established. Last error: Error: unable to verify the first certificate. Resolution note: ",
});
const BROKEN = new StatusError({ code: 14, details: "Connection dropped" });
const LEADERLESS = new StatusError({
	code: 14,
	details: "etcdserver: no leader",
});
const SILENT = new StatusError({ code: 4, details: "no answer within 1 s" });
const BUSY = new StatusError({
	code: 14,
	details: "etcdserver: request timed out",
});
const FULL = new StatusError({
	code: 8,
	details: "etcdserver: mvcc: database space exceeded",
});
const OLD_TOKEN = new StatusError({
	code: 16,
	details: "etcdserver: invalid auth token",
});
const FORBIDDEN = new StatusError({
	code: 7,
	details: "etcdserver: permission denied",
});

function callsOf(endpoints: readonly string[], login = new Login({})) {
	const clock = new VirtualClock(1_000);
	const { connections, clients } = fakeConnections(clock, { endpoints });
	const calls = new Calls({ clock, connections, login });
	/** Makes a call whose tries go as this says, and tells where they went and with which tokens. */
	const make = async (...outcomes: readonly (string | Error)[]) => {
		const asked: string[] = [];
		const tokens: (string | undefined)[] = [];
		const call = async (client: EtcdClient, token: string | undefined) => {
			const outcome = outcomes[asked.length];
			asked.push(client.endpoint);
			tokens.push(token);
			if (outcome instanceof Error) throw outcome;
			return outcome;
		};
		const result: unknown = await calls
			.make(call)
			.catch((error: unknown) => error);
		return { result, asked, tokens };
	};
	return { calls, connections, clients, clock, make };
}

describe("a call", () => {
	it("is tried once at each endpoint where it certainly was not made", async () => {
		const { make } = callsOf(["a:1", "b:1", "c:1"]);
		expect(await make(refused("a:1"), LEADERLESS, "answer")).toMatchObject({
			result: "answer",
			asked: ["a:1", "b:1", "c:1"],
		});
	});

	it.each([
		["broken", BROKEN],
		["silent", SILENT],
		["busy", BUSY],
	])("is not made again where it may have been made: %s; the next one goes elsewhere", async (_, error) => {
		const { make } = callsOf(["a:1", "b:1"]);
		const { result, asked } = await make(error, "twice");
		expect(asked).toEqual(["a:1"]);
		expect(result).toMatchObject({ code: "STORE_UNREACHABLE" });
		expect((await make("answer")).asked).toEqual(["b:1"]);
	});

	it.each([
		["full", FULL, false],
		["forbidden", FORBIDDEN, true],
	])("that etcd refuses is not made elsewhere, nor the next one: %s", async (_, error, hopeless) => {
		const { make } = callsOf(["a:1", "b:1"]);
		const { result, asked } = await make(error, "elsewhere");
		expect(asked).toEqual(["a:1"]);
		expect(isHopeless(result)).toBe(hopeless);
		expect((await make("answer")).asked).toEqual(["a:1"]);
	});

	it("that fails names each endpoint that failed since the last answer", async () => {
		const { make } = callsOf(["a:1", "b:1", "c:1"]);
		await make(refused("a:1"), SILENT);
		const third = await make(refused("c:1"), refused("a:1"), BUSY);
		expect(third.asked).toEqual(["c:1", "a:1", "b:1"]);
		expect(String(third.result)).toMatch(
			/etcd at a:1: connection refused.*etcd at b:1: it says: request timed out; etcd at c:1: connection refused/,
		);
		await make("answer");
		expect(String((await make(SILENT)).result)).not.toMatch(/; etcd at/);
	});

	it("is hopeless only where it is so at every endpoint", async () => {
		const one = await callsOf(["a:1", "b:1"]).make(UNTRUSTED, refused("b:1"));
		expect(isHopeless(one.result)).toBe(false);
		const all = await callsOf(["a:1", "b:1"]).make(UNTRUSTED, UNTRUSTED);
		expect(isHopeless(all.result)).toBe(true);
	});
});

describe("a token that etcd does not take", () => {
	function loginOf(...tokens: readonly string[]) {
		const left = [...tokens];
		const login = new Login({ login: { username: "u", password: "p" } });
		const setUp = callsOf(["a:1"], login);
		const current = setUp.connections.current as unknown as object;
		Object.assign(current, {
			authenticate: async () => ({ token: left.shift() }),
		});
		return setUp;
	}

	it("is replaced once a call", async () => {
		const { make } = loginOf("one", "two", "three");
		expect(await make(OLD_TOKEN, "answer")).toEqual({
			result: "answer",
			asked: ["a:1", "a:1"],
			tokens: ["one", "two"],
		});
		const { result, tokens } = await make(OLD_TOKEN, OLD_TOKEN, "too often");
		expect(tokens).toEqual(["two", "three"]);
		expect(result).toMatchObject({ code: "STORE_UNREACHABLE" });
		expect(isHopeless(result)).toBe(false);
	});
});

describe("a connection", () => {
	it.each([
		["that broke", BROKEN, 0, 1],
		["that could not be made", refused("a:1"), 0, 1],
		["over which nothing came since the question", SILENT, 999, 1],
		["over which something came, if not the answer", SILENT, 1_001, 0],
		["to the only server, which has no leader", LEADERLESS, 0, 0],
		["to the only server, which is busy", BUSY, 0, 0],
	])("%s: is given up or kept", async (_, error, heardAt, closed) => {
		const { make, connections, clients } = callsOf(["a:1"]);
		connections.current.heardAt = heardAt;
		await make(error);
		expect(clients.filter(({ closedAs }) => closedAs)).toHaveLength(closed);
	});
});
