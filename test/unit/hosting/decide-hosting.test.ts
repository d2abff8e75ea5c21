import { describe, expect, it } from "vitest";
import {
	decideHosting,
	type HostingFacts,
} from "../../../src/hosting/decide-hosting.js";

/** A machine called node0 in a network, and what its names lead to. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
	node0: ["10.0.0.5"],
	node1: ["10.0.0.6"],
	node2: ["10.0.0.7"],
	// As Debian writes its own name into /etc/hosts.
	"node0.lan": ["127.0.1.1"],
	localhost: ["::1", "127.0.0.1"],
	six: ["fd00::5"],
	// An address that a service forwards.
	service: ["10.96.0.1"],
};

function decide(
	hosts: readonly string[],
	more: Partial<HostingFacts> = {},
): ReturnType<typeof decideHosting> {
	const isAddress = (host: string) => /^[\d.]+$|:/.test(host);
	return decideHosting({
		places: hosts.map((host) => ({
			host,
			port: 29_400,
			addresses: isAddress(host) ? [host] : (NAMES[host] ?? []),
		})),
		isHost: undefined,
		localAddr: undefined,
		hostName: "node0",
		external: ["10.0.0.5", "192.168.1.5", "fd00::5"],
		...more,
	});
}

const EVERYWHERE = ["0.0.0.0"];
const host = (member: number, ...listen: string[]) => ({
	...{ kind: "host", member, listen },
});
const join = { kind: "join" };

describe("who hosts", () => {
	it.each<[string, readonly string[], Partial<HostingFacts>, object]>([
		["its own name", ["node0"], {}, host(0, "10.0.0.5")],
		["its own name in capitals", ["NODE0"], {}, host(0, ...EVERYWHERE)],
		["its own address", ["192.168.1.5"], {}, host(0, "192.168.1.5")],
		["another's name", ["node1"], {}, join],
		["a name that leads nowhere", ["nowhere"], {}, join],
		[
			"its own with a domain that leads nowhere",
			["node0.x.y"],
			{},
			host(0, ...EVERYWHERE),
		],
		["localhost", ["localhost"], {}, host(0, "127.0.0.1")],
		[
			"a name that is a loopback one here",
			["node0.lan"],
			{},
			host(0, ...EVERYWHERE),
		],
		[
			"the same before its network is up",
			["node0.lan"],
			{ external: [] },
			host(0, ...EVERYWHERE),
		],
		[
			"the same in a network of IPv6 alone",
			["node0.lan"],
			{ external: ["fd00::5"] },
			host(0, "::"),
		],
		[
			"its address before its network is up",
			["10.0.0.5"],
			{ external: [] },
			join,
		],
		[
			"its --local-addr",
			["node1"],
			{ localAddr: "node1" },
			host(0, ...EVERYWHERE),
		],
		[
			"a name with another --local-addr of its own",
			["node0"],
			{ localAddr: "192.168.1.5" },
			host(0, "10.0.0.5"),
		],
		[
			"another machine that is played",
			["127.0.0.2"],
			{ localAddr: "127.0.0.3" },
			join,
		],
		["is_host=false", ["node0"], { isHost: false }, join],
		[
			"is_host=true elsewhere",
			["service"],
			{ isHost: true },
			host(0, ...EVERYWHERE),
		],
		[
			"the second of three",
			["node1", "node0", "node2"],
			{},
			host(1, "10.0.0.5"),
		],
		[
			"one of three that are played",
			["127.0.0.2", "127.0.0.3", "127.0.0.4"],
			{ localAddr: "127.0.0.3" },
			host(1, "127.0.0.3"),
		],
	])("%s: %j", (_, hosts, more, expected) => {
		expect(decide(hosts, more)).toEqual(expected);
	});

	it.each<[readonly string[], Partial<HostingFacts>, string]>([
		[
			["127.0.0.2", "127.0.0.3", "127.0.0.4"],
			{},
			"several of 127.0.0.2, 127.0.0.3, 127.0.0.4 are this machine",
		],
		[
			["node1", "node2", "service"],
			{ isHost: true },
			"none of node1, node2, service is this machine",
		],
	])("%j is refused", (hosts, more, words) => {
		expect(decide(hosts, more)).toEqual({
			kind: "refuse",
			words: expect.stringContaining(words),
		});
	});
});
