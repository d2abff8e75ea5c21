import { expect, test } from "vitest";
import { INITIAL_STATE } from "../../../src/agent/machine/state.js";
import { endRun, leaveNode } from "../../../src/http/control.js";
import { Observer } from "../../../src/http/observer.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

function observe(clock = new VirtualClock(5_000)) {
	const warnings: string[] = [];
	const observer = new Observer({
		config: {
			...{ runId: "run", nodeId: "node-a", role: "chief", policyId: "soft" },
			http: undefined,
		},
		clock,
		log: { warn: (words) => warnings.push(words) },
	});
	return { clock, observer, warnings };
}

test("before a run is joined there is a node, and words for what is not known", async () => {
	const { observer } = observe();
	expect(await observer.status()).toEqual({
		...{ version: 1, at: 5_000, control: false },
		problem: "this agent has not joined its run yet",
		...{ run: null, history: null, timeline: null, ledger: null },
		node: {
			...{ nodeId: "node-a", pid: process.pid, phase: "JOINING", since: 5_000 },
			...{ waitsFor: "waits to join its run", workers: [] },
		},
	});
	expect(observer.readiness().isReady).toBe(false);
	expect(await observer.metricSources()).toMatchObject({
		...{ role: "chief", policy: "soft", run: undefined, latencyMs: null },
	});
});

test("an observer that fails ends no run, and says so once", () => {
	class BrokenClock extends VirtualClock {
		isBroken = false;

		override wallTime(): number {
			if (this.isBroken) throw new Error("no time");
			return super.wallTime();
		}
	}
	const clock = new BrokenClock();
	const { observer, warnings } = observe(clock);
	clock.isBroken = true;
	observer.follow(INITIAL_STATE);
	observer.follow(INITIAL_STATE);
	expect(warnings).toEqual([
		"what --http tells of this node is not of now: no time",
	]);
});

test("who leaves before the run is joined leaves; a run that is not joined is not stopped", async () => {
	const { observer, clock } = observe();
	const told: unknown[] = [];
	const answer = leaveNode(observer, (stop) => told.push(stop));
	expect(answer.status).toBe(202);
	expect(told).toEqual([{ exitCode: 143, reason: "POST /leave" }]);
	expect(await endRun(observer, clock)).toMatchObject({ status: 409 });
});
