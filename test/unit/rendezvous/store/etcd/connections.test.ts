import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../../../helpers/virtual-clock.js";
import { fakeConnections } from "./fake-client.js";

const ENDPOINTS = ["a:1", "b:1", "c:1"];

function connectionsOf(random = () => 0) {
	return fakeConnections(new VirtualClock(), { endpoints: ENDPOINTS, random });
}

describe("connections", () => {
	it.each([
		[0, "a:1"],
		[0.5, "b:1"],
		[0.99, "c:1"],
	])("begin with chance at %f at %s, so that not all agents ask one member", (chance, endpoint) => {
		const { connections } = connectionsOf(() => chance);
		expect(connections.current.endpoint).toBe(endpoint);
	});

	it("are one at a time, until it is given up; the next one goes elsewhere", () => {
		const { connections, clients } = connectionsOf();
		const first = connections.current;
		expect(connections.current).toBe(first);
		connections.giveUp(first, "no answer");
		expect(clients[0]?.closedAs?.details).toBe(
			"the connection was given up: no answer",
		);
		const visited = ENDPOINTS.map(() => {
			const { current } = connections;
			connections.giveUp(current, "no answer");
			return current.endpoint;
		});
		expect(visited).toEqual(["b:1", "c:1", "a:1"]);
	});

	it("do not end by what is said of an earlier one", () => {
		const { connections } = connectionsOf();
		const first = connections.current;
		connections.giveUp(first, "no answer");
		const second = connections.current;
		connections.giveUp(first, "no answer, says another");
		expect(connections.current).toBe(second);
	});

	it("end for good when they are closed", () => {
		const { connections, clients } = connectionsOf();
		void connections.current;
		connections.close();
		expect(clients[0]?.closedAs?.details).toBe("this store was closed");
		expect(() => connections.current).toThrow(
			expect.objectContaining({ code: "STORE_UNREACHABLE" }),
		);
	});

	it("count what all of them have cost", () => {
		const { connections } = connectionsOf();
		connections.giveUp(connections.current, "no answer");
		void connections.current;
		expect(connections.traffic).toEqual({
			connections: 2,
			bytesRead: 20,
			bytesWritten: 40,
		});
	});

	it.each([
		[1, 0, 25],
		[1, 1, 50],
		[3, 0, 100],
		[4, 1, 400],
		[100, 1, 400],
	])("are tried again by a stream after %i failures, with chance at %i, in %i ms", async (failures, chance, ms) => {
		const clock = new VirtualClock(0);
		const pauses = fakeConnections(clock, {
			random: () => chance,
		}).connections.pauses();
		for (let failure = 1; failure < failures; failure++) pauses.begin(() => {});
		await clock.advance(1_000);
		let reopened = false;
		pauses.begin(() => {
			reopened = true;
		});
		await clock.advance(ms - 1);
		expect([reopened, pauses.isOn]).toEqual([false, true]);
		await clock.advance(1);
		expect([reopened, pauses.isOn]).toEqual([true, false]);
	});
});
