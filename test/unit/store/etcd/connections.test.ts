import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../../helpers/virtual-clock.js";
import { fakeConnections } from "./fake-client.js";

const ENDPOINTS = ["a:1", "b:1", "c:1"];

function connectionsOf(random = () => 0) {
	return fakeConnections(new VirtualClock(), { endpoints: ENDPOINTS, random });
}

describe("connections", () => {
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

	it("end for good when they are closed", () => {
		const { connections, clients } = connectionsOf();
		void connections.current;
		connections.close();
		expect(clients[0]?.closedAs?.details).toBe("this store was closed");
		expect(() => connections.current).toThrow(
			expect.objectContaining({ code: "STORE_UNREACHABLE" }),
		);
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
