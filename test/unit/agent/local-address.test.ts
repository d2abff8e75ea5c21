import { isIP } from "node:net";
import { describe, expect, it } from "vitest";
import { detectLocalAddress } from "../../../src/agent/joining/enter-run.js";
import { systemClock } from "../../../src/base/clock.js";
import { externalAddresses } from "../../../src/config/host.js";

const detect = (...endpoints: readonly string[]) =>
	detectLocalAddress({ endpoints }, systemClock);

describe("the address that other nodes are given", () => {
	const [external] = externalAddresses();

	it.each([
		["127.0.0.1:2379"],
		["localhost:2379"],
		["https://[::1]:2379"],
	])("is a loopback address where the store is at %s", async (endpoint) => {
		expect(await detect(endpoint)).toBe("127.0.0.1");
	});

	it("is this machine's own where the store is on it", async (context) => {
		if (external === undefined) context.skip("there is no network");
		const host = isIP(external ?? "") === 6 ? `[${external}]` : external;
		expect(await detect(`${host}:2379`)).toBe(external);
	});

	it("is one of this machine's own where there is no way to the store", async () => {
		// Nobody may send to this address.
		const found = await detect("255.255.255.255:1");
		expect(found).toBe(external ?? "127.0.0.1");
	});
});
