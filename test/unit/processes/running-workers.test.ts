import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { afterEach, describe, expect, test, vi } from "vitest";
import { signalGroup } from "../../../src/processes/process-group.js";
import { RunningWorkers } from "../../../src/processes/running-workers.js";
import type { WorkerExit } from "../../../src/processes/worker.js";
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

/** From now on no signal leaves this process; returns those that would have. */
function catchSignals(answer: (signal: unknown) => string | undefined) {
	const signals: unknown[] = [];
	vi.spyOn(process, "kill").mockImplementation((_pid, signal) => {
		const code = answer(signal);
		if (code !== undefined) throw Object.assign(new Error(code), { code });
		if (signal !== 0) signals.push(signal);
		return true;
	});
	return signals;
}

/** A worker whose leader has this pid. */
function follow(pid: number) {
	const child = new EventEmitter();
	const exits: WorkerExit[] = [];
	const warnings: string[] = [];
	let look: (alive: boolean) => void = () => {};
	const running = new RunningWorkers(
		{
			clock: new VirtualClock(),
			registry: { add: () => {}, remove: () => {} },
			warn: (message) => warnings.push(message),
		},
		{
			watch: (_groupId, listener) => {
				look = listener;
			},
		},
	);
	const worker = running.follow(
		{ child, pid, startedAt: 0 },
		{
			spawnFailed: () => expect.unreachable(),
			exited: (exit) => exits.push(exit),
			gone: () => {},
		},
	);
	return {
		...{ worker, child, exits, warnings },
		look: (alive: boolean) => look(alive),
	};
}

describe.skipIf(process.platform !== "linux")("SIGTERM", () => {
	test.each([
		["that runs", running, ["SIGCONT", "SIGTERM"]],
		["that was reaped", () => spawnSync("true").pid, []],
		["whose pid is a stranger's by now", () => process.ppid, []],
	])("to a leader %s, whose exit has not been told", (_, pid, sent) => {
		const { worker, child, exits, look } = follow(pid());
		const signals = catchSignals((signal) =>
			signal === 0 ? "ESRCH" : undefined,
		);
		worker.signal("SIGTERM");
		expect(signals).toEqual(sent);
		child.emit("exit", 1, null);
		look(false);
		expect(exits).toMatchObject([
			{ code: 1, signalledByAgent: sent.length > 0 },
		]);
		worker.signal("SIGTERM");
		expect(signals).toEqual(sent);
	});
});

describe.skipIf(process.platform !== "linux")("SIGKILL", () => {
	const refusals = [
		expect.stringMatching(
			/^the process group \d+ of a worker belongs to another user/,
		),
	];

	test("to a leader of another user is told once, as one that is refused", () => {
		const { worker, warnings } = follow(running());
		catchSignals(() => "EPERM");
		worker.signal("SIGTERM");
		expect(warnings).toEqual([]);
		worker.signal("SIGKILL");
		worker.signal("SIGKILL");
		expect(warnings).toEqual(refusals);
	});

	test("that leaves another user's processes is told of them, once the others are gone", () => {
		const { worker, child, look, warnings, exits } = follow(running());
		let answer: string | undefined;
		catchSignals(() => answer);
		worker.signal("SIGKILL");
		child.emit("exit", null, "SIGKILL");
		look(true);
		expect(warnings).toEqual([]);
		answer = "EPERM";
		look(true);
		look(true);
		expect(warnings).toEqual(refusals);
		look(false);
		expect(exits).toMatchObject([
			{ signal: "SIGKILL", signalledByAgent: true },
		]);
	});

	test("is not owed to processes of another user while there is time for them to end", () => {
		const { worker, child, look, warnings } = follow(running());
		catchSignals(() => "EPERM");
		worker.signal("SIGTERM");
		child.emit("exit", 0, null);
		look(true);
		expect(warnings).toEqual([]);
	});
});

test.each([
	[undefined, "sent"],
	["ESRCH", "nobody"],
	["EPERM", process.platform === "linux" ? "refused" : "nobody"],
])("a signal to a group that is answered with %s is %s", (code, delivery) => {
	catchSignals(() => code);
	expect(signalGroup(1_000_000_000, "SIGTERM")).toBe(delivery);
});
