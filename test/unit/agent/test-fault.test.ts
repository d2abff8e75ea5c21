import { describe, expect, it, vi } from "vitest";
import {
	settingsFromEnvironment,
	TEST_FAULT_VARIABLE,
} from "../../../src/agent/configuration/environment.js";
import { testFaultOf, withTestFault } from "../../../src/agent/test-fault.js";
import { workerEnvironment } from "../../../src/agent/worker-environment.js";
import { MemoryStore } from "../../../src/rendezvous/memory-store.js";

const put = (key: string) => [{ put: key, value: "" }];
const isAbsent = (key: string) => [{ key, modRevision: 0 }];

describe("a test's fault", () => {
	it.each([undefined, ""])("is not there without its variable: %j", (text) => {
		const store = new MemoryStore();
		const fault = testFaultOf({ [TEST_FAULT_VARIABLE]: text });
		const die = () => {
			throw new Error("died");
		};
		expect(fault).toBeUndefined();
		expect(withTestFault(store, fault, die)).toBe(store);
	});

	it.each([
		"write=0",
		"write",
		"after-lift",
		"write=1,batch=0",
		"write=1 ",
	])("is refused where the variable says something else: %j", (text) => {
		expect(() => testFaultOf({ [TEST_FAULT_VARIABLE]: text })).toThrow(
			`environment ELASTIC_RUN_TEST_FAULT is "${text}"`,
		);
	});

	it("ends the process once, when so many writes stand", async () => {
		const fault = testFaultOf({ [TEST_FAULT_VARIABLE]: "write=2,batch=3" });
		expect(fault).toEqual({ diesAfterWrite: 2, batchSize: 3 });
		const plain = new MemoryStore();
		const die = vi.fn();
		const store = withTestFault(plain, fault, die);
		await store.transaction([], put("a"));
		// Nothing was written.
		await store.transaction(isAbsent("a"), put("b"));
		await store.snapshot(["a"]);
		expect(die).not.toHaveBeenCalled();
		await store.transaction([], put("c"));
		expect(die).toHaveBeenCalledOnce();
		expect((await plain.snapshot(["c"])).entries.size).toBe(1);
		await store.transaction(isAbsent("a"), put("b"));
		await store.transaction([], put("d"));
		expect(die).toHaveBeenCalledOnce();
	});

	it("is known to the launcher, and not handed to workers", () => {
		const parent = { [TEST_FAULT_VARIABLE]: "write=1", PATH: "/bin" };
		expect(settingsFromEnvironment(parent).warnings).toEqual([]);
		const environment = workerEnvironment({
			parent,
			pythonPath: undefined,
			info: {
				localRank: 0,
				roleRank: 0,
				rank: 0,
				localWorldSize: 1,
				roleWorldSize: 1,
				worldSize: 1,
				groupRank: 0,
				groupWorldSize: 1,
				role: "default",
				masterAddr: "127.0.0.1",
				masterPort: 1,
				round: 1,
				restartCount: 0,
				runId: "r",
			},
			nodeId: "node-a",
			incarnation: "a-1",
			instance: 1,
			channel: "/c",
			errorFile: "/e",
			maxRestarts: 3,
		});
		expect(environment.PATH).toBe("/bin");
		expect(environment).not.toHaveProperty(TEST_FAULT_VARIABLE);
	});
});
