import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { WorkerExit } from "../../../src/agent/supervision/worker.js";
import { WorkerProcess } from "../../../src/agent/supervision/worker-process.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const children: ChildProcess[] = [];

afterEach(() => {
	vi.restoreAllMocks();
	for (const child of children.splice(0)) child.kill("SIGKILL");
});

function running(): number {
	const child = spawn("sleep", ["60"], { stdio: "ignore" });
	children.push(child);
	return child.pid ?? expect.unreachable("sleep was not started");
}

/** A worker whose leader has this pid; no signal leaves this process. */
function follow(pid: number) {
	const signals: unknown[] = [];
	vi.spyOn(process, "kill").mockImplementation((target, signal) => {
		expect(target).toBe(-pid);
		if (signal === 0) throw Object.assign(new Error(), { code: "ESRCH" });
		signals.push(signal);
		return true;
	});
	const child = new EventEmitter();
	const exits: WorkerExit[] = [];
	const worker = new WorkerProcess({
		...{ child, pid, clock: new VirtualClock(), startedAt: 0 },
		registry: { add: () => {}, remove: () => {} },
		groups: { watch: (_groupId, listener) => listener(false) },
		listener: {
			spawnFailed: () => expect.unreachable(),
			exited: (exit) => exits.push(exit),
			gone: () => {},
		},
	});
	return { worker, child, signals, exits };
}

describe.skipIf(process.platform !== "linux")("SIGTERM", () => {
	test.each([
		["that runs", running, ["SIGCONT", "SIGTERM"]],
		["that was reaped", () => spawnSync("true").pid, []],
		["whose pid is a stranger's by now", () => process.ppid, []],
	])("to a leader %s, whose exit has not been told", (_, pid, sent) => {
		const { worker, child, signals, exits } = follow(pid());
		worker.signal("SIGTERM");
		expect(signals).toEqual(sent);
		child.emit("exit", 1, null);
		expect(exits).toMatchObject([{ code: 1, sentByUs: sent.length > 0 }]);
		worker.signal("SIGTERM");
		expect(signals).toEqual(sent);
	});
});
