import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
	hostIdOf,
	isGone,
	machineIdOf,
	ownIdentity,
	pidsOf,
} from "../../../src/channel/process-identity.js";

const LINUX = {
	pid: 7,
	startTime: "9",
	bootId: "boot",
	pidNamespace: "pid:[1]",
};
const ELSEWHERE = { ...LINUX, bootId: "", pidNamespace: "" };
const MAC = {
	platform: "darwin",
	hostName: "mac.local",
	hardwareAddresses: ["b", "a", "b"],
};

describe("the host that a process belongs to", () => {
	it.each([
		["another start of the machine", { bootId: "boot-2" }],
		["another container of the same kernel", { pidNamespace: "pid:[2]" }],
	])("differs with %s", (_, change) => {
		expect(hostIdOf({ ...LINUX, ...change })).not.toBe(hostIdOf(LINUX));
	});

	it("is the same for another process of it", () => {
		const other = { ...LINUX, pid: 8, startTime: "10" };
		expect(hostIdOf(other)).toBe("boot pid:[1]");
	});

	it("is known by name and network cards where the system has no boot id", () => {
		expect(hostIdOf(ELSEWHERE, MAC)).toBe("mac.local a b");
	});

	it.each([
		["a Linux without /proc", { ...MAC, platform: "linux" }],
		["a machine without network cards", { ...MAC, hardwareAddresses: [] }],
	])("is not known on %s", (_, machine) => {
		expect(hostIdOf(ELSEWHERE, machine)).toBe("");
	});
});

it.each([
	["time:[4026531834]", "pid:[1]"],
	["", "pid:[1]"],
	["time:[2]", "pid:[1] time:[2]"],
])("pids count with the time by which processes start: %s", (time, counted) => {
	expect(pidsOf("pid:[1]", time)).toBe(counted);
});

describe("a machine's name in all of its boots", () => {
	it("is none in a container", () => {
		expect(machineIdOf({ ...LINUX, pidNamespace: "pid:[2]" })).toBe("");
	});

	it("is not the one that the machine keeps for itself", (context) => {
		if (!existsSync("/etc/machine-id")) context.skip("it has no name");
		const own = readFileSync("/etc/machine-id", "utf8").trim();
		const id = machineIdOf({ ...LINUX, pidNamespace: "pid:[4026531836]" });
		expect(id).toMatch(/^[0-9a-f]{16}$/);
		expect(own).not.toContain(id);
	});
});

describe("a process", () => {
	it("whose pid another one has by now is gone", (context) => {
		const { pid, startTime } = ownIdentity();
		if (startTime === "") context.skip("only Linux shows a process's start");
		expect(isGone({ pid, startTime: `${startTime}1` })).toBe(true);
	});
});
