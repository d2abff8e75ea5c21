import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { readProcess } from "../../../src/base/process-stat.js";
import { findSetpriv } from "../../../src/processes/setpriv.js";
import type { WorkerSpec } from "../../../src/processes/worker.js";
import type { ForkedWorker } from "../../../src/warm/forked-worker.js";
import {
	HelperProcess,
	RankZeroFirst,
} from "../../../src/warm/helper-process.js";
import {
	endProcess,
	isAlive,
	temporaryFolder,
	waitFor,
} from "../../helpers/processes.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const HELPER = fileURLToPath(
	new URL("../../fixtures/warm/helper.sh", import.meta.url),
);
const BEGINS = 'say "\\"started\\",\\"pid\\":$!"; : > "$BEGUN"';

describe.skipIf(process.platform !== "linux")("a start from a helper", () => {
	it("is not given up if the launcher stood still while the worker began", async () => {
		const { clock, worker, begun, exits } = await starting(BEGINS);
		spin(() => existsSync(begun));
		clock.standStill(60_000);
		await waitFor("the worker's word", () => worker.isStarted);
		await clock.advance(60_000);
		expect([worker.refusal, exits, isAlive(worker.pid)]).toEqual([
			...[undefined, [], true],
		]);
	});

	it("is given up if the worker does not begin, and no other start is warm then", async () => {
		const { clock, helper, worker, exits, refusals } = await starting(":");
		await clock.advance(2_000);
		const reason = "a worker did not begin within 2 s";
		expect(refusals).toEqual([reason]);
		expect(helper.problem).toEqual({ kind: "refused", reason });
		await waitFor("its end", () => exits.length > 0);
		expect(exits).toEqual(["SIGKILL"]);
		expect([worker.isStarted, worker.refusal]).toEqual([
			...[false, "it did not begin within 2 s"],
		]);
	});

	it("has not begun if the helper was killed before the worker could begin", async () => {
		const { clock, worker, exits } = await starting("kill -9 $$");
		await waitFor("its end", () => {
			void clock.advance(10);
			return exits.length > 0;
		});
		expect([worker.isStarted, worker.refusal, exits]).toEqual([
			...[false, "it ended before it began", ["SIGKILL"]],
		]);
	});

	it("has begun if the helper was killed after that, and the launcher hears both at once", async () => {
		const { clock, helper, worker, exits } = await starting(
			`${BEGINS}; kill -9 $$`,
		);
		spin(() => readProcess(helper.pid ?? 0)?.state === "Z");
		await waitFor("its end", () => {
			void clock.advance(10);
			return exits.length > 0;
		});
		expect([worker.isStarted, worker.refusal]).toEqual([true, undefined]);
	});

	it("may be announced, so that its helper looks at the preloaded files before", async () => {
		const heard = 'read -r next <&3; case $next in *look*) : > "$BEGUN";; esac';
		const { helper, begun } = await starting(heard);
		helper.expectStart();
		await waitFor("the helper's look", () => existsSync(begun));
	});

	it("goes on below a helper that starts no others and is stopped by a signal", async () => {
		const { clock, helper, worker } = await starting(BEGINS);
		await waitFor("the worker's word", () => worker.isStarted);
		helper.retire("its successor is still importing");
		const pid = helper.pid ?? 0;
		process.kill(pid, "SIGSTOP");
		await waitFor("its stop", () => readProcess(pid)?.state === "T");
		await clock.advance(1_000);
		await waitFor("its going on", () => readProcess(pid)?.state !== "T");
		expect(isAlive(worker.pid)).toBe(true);
	});
});

it("lets the other workers begin once rank 0 has begun or ended", () => {
	const turns = new RankZeroFirst();
	const started: number[] = [];
	const add = (pid: number, rank: string) =>
		turns.add(pid, rank, () => started.push(pid));
	add(10, "0");
	add(11, "1");
	add(12, "2");
	expect(started).toEqual([10]);
	turns.settled(11);
	expect(started).toEqual([10]);
	turns.settled(10);
	// Rank 0 is on another node, or goes on.
	add(20, "4");
	expect(started).toEqual([10, 11, 12, 20]);
});

/** Waits without letting this process hear anything. */
function spin(until: () => boolean): void {
	while (!until());
}

/** A helper that has been told to start its only process. */
async function starting(then: string) {
	const clock = new VirtualClock();
	const folder = temporaryFolder();
	onTestFinished(folder.remove);
	const begun = join(folder.path, "begun");
	const PATH = process.env.PATH ?? "";
	const setpriv = await findSetpriv(PATH);
	if (setpriv === undefined) throw new Error("there is no setpriv");
	const spec: WorkerSpec = {
		...{ localRank: 0, file: "/bin/sh", args: [HELPER, then], cwd: "/" },
		...{ env: { PATH, BEGUN: begun }, stdout: 1, stderr: 2 },
	};
	const refusals: string[] = [];
	const helper: HelperProcess = new HelperProcess({
		...{ clock, setpriv, spec, toImport: { modules: [] } },
		leftOut: { leaveOut: [], sets: [] },
		registry: { add: () => {}, remove: () => {} },
		onParked: () => {},
		onUnfit: () => {},
		onReady: () =>
			helper.park([{ localRank: 0, place: {} }], { leaveOut: [], sets: [] }),
		onRefused: (reason) => void refusals.push(reason),
	});
	onTestFinished(() => helper.close());
	await waitFor("a process that waits", () => helper.waiting === 1);
	const worker: ForkedWorker = helper.start(spec, {
		stdout: { launchers: 1 },
		stderr: { launchers: 2 },
	});
	onTestFinished(() => endProcess(worker.pid));
	const exits: (NodeJS.Signals | null)[] = [];
	worker.once("exit", (_, signal) => void exits.push(signal));
	return { clock, helper, worker, begun, exits, refusals };
}
