import { isIP } from "node:net";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import {
	chooseLocalAddress,
	detectLocalAddress,
	externalAddresses,
} from "../../../src/config/local-address.js";

type Routes = Parameters<typeof chooseLocalAddress>[1];

const docker = { address: "172.17.0.1", device: "docker0", isInside: true };
const eth0 = { address: "10.0.0.1", device: "eth0", isInside: false };
const eth1 = { address: "10.1.0.1", device: "eth1", isInside: false };

it.each<[string, Partial<Routes>, string]>([
	["the way to the store's address", { toAddress: ["10.1.0.1"] }, "10.1.0.1"],
	["the way to the store's name", { toName: ["10.1.0.1"] }, "10.1.0.1"],
	// As Debian's /etc/hosts has it for a machine's own name.
	["a name that leads to itself", { toName: ["127.0.1.1"] }, "10.0.0.1"],
	["an address of nobody's", { toName: ["169.254.3.4"] }, "10.0.0.1"],
	["another endpoint", { toName: ["127.0.1.1", "10.1.0.1"] }, "10.1.0.1"],
	// As a resolver has it that knows all addresses of the machine.
	["a name of the bridge, too", { toName: ["172.17.0.1"] }, "10.0.0.1"],
	[
		"the bridge, where it is named",
		{ toAddress: ["172.17.0.1"] },
		"172.17.0.1",
	],
	[
		"the default route",
		{ toName: ["127.0.1.1"], byDefault: ["10.1.0.1"] },
		"10.1.0.1",
	],
	[
		"the default route, though it is a bridge",
		{ byDefault: ["172.17.0.1"] },
		"172.17.0.1",
	],
	["no way", { external: [docker, eth1, eth0] }, "10.1.0.1"],
	["no way and nothing but a bridge", { external: [docker] }, "127.0.0.1"],
	["no way and no address", { external: [] }, "127.0.0.1"],
])("local address by %s", (_, routes, address) => {
	const none = { toAddress: [], toName: [], byDefault: [] };
	const known = { ...none, external: [docker, eth0, eth1], ...routes };
	expect(chooseLocalAddress(false, known)).toBe(address);
	expect(chooseLocalAddress(true, known)).toBe("127.0.0.1");
});

describe("the address that other nodes are given", () => {
	const [external] = externalAddresses();
	const detect = (...endpoints: readonly string[]) =>
		detectLocalAddress({ endpoints }, systemClock, () => {});

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

	it("is one of this machine's own where there is no way to the store", async (context) => {
		if (external === undefined) context.skip("there is no network");
		// Nobody may send to this address.
		expect(externalAddresses()).toContain(await detect("255.255.255.255:1"));
	});
});
