import { describe, expect, it } from "vitest";
import {
	isCertainlyGone,
	type Machine,
} from "../../../src/agent/joining/certainly-gone.js";
import type { Whereabouts } from "../../../src/rendezvous/index.js";

const PROCESS: Whereabouts = {
	hostId: "boot-1 pid:[1]",
	pid: 7,
	startTime: "9",
	machineId: "machine-1",
	network: "net:[1]",
	address: "10.0.0.1",
	linkPort: 4_000,
};
const REBOOTED = { hostId: "boot-2 pid:[1]" };
const IN_ANOTHER_CONTAINER = { hostId: "boot-1 pid:[2]", linkPort: 4_001 };
const GONE: Machine = { isGone: () => true, isFree: () => true };

/** Whether this process finds that one gone, where it sees none with its pid and nobody at its port. */
const finds = (
	own: Partial<Whereabouts>,
	other: Partial<Whereabouts> = {},
	machine: Partial<Machine> = {},
) =>
	isCertainlyGone(
		{ ...PROCESS, ...other },
		{ ...PROCESS, pid: 8, ...own },
		{ ...GONE, ...machine },
	);

describe("a process has certainly ended", () => {
	it.each<[string, boolean]>([
		["if it would be seen, and is not", finds({})],
		["if its machine was rebooted", finds(REBOOTED)],
		["if nobody listens where it did", finds(IN_ANOTHER_CONTAINER)],
		[
			"if this one listens there",
			finds({ ...IN_ANOTHER_CONTAINER, linkPort: 4_000 }, {}, alive()),
		],
	])("%s", (_, isFound) => {
		expect(isFound).toBe(true);
	});
});

describe("a process may live", () => {
	it.each<[string, boolean]>([
		["if it is seen", finds({}, {}, alive())],
		["if nothing is known of it", finds({ hostId: "" }, { hostId: "" })],
		["on another machine", finds({ ...REBOOTED, machineId: "machine-2" })],
		["on a copy of the machine", finds({ ...REBOOTED, address: "10.0.0.2" })],
		[
			"if no machine has a name",
			finds({ ...REBOOTED, machineId: undefined }, { machineId: undefined }),
		],
		[
			"in another container with a network of its own",
			finds({ ...IN_ANOTHER_CONTAINER, network: "net:[2]" }),
		],
		[
			"in another container if somebody listens where it did",
			finds(IN_ANOTHER_CONTAINER, {}, alive()),
		],
		[
			"in another container if it listened nowhere",
			finds(IN_ANOTHER_CONTAINER, { linkPort: undefined }),
		],
	])("%s", (_, isFound) => {
		expect(isFound).toBe(false);
	});
});

function alive(): Machine {
	return { isGone: () => false, isFree: () => false };
}
