import { getEventListeners } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import {
	type AgentState,
	INITIAL_STATE,
} from "../../../src/agent/machine/state.js";
import type { Answer } from "../../../src/http/answer.js";
import { Metrics } from "../../../src/http/metrics.js";
import { Observer } from "../../../src/http/observer.js";
import { Router } from "../../../src/http/routes.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const CLOSED: AgentState = {
	...INITIAL_STATE,
	...{ phase: "CLOSED", view: null, instance: 1 },
	...{ failure: null, failuresReported: 0 },
	ending: { outcome: "left", exitCode: 143, reason: "SIGTERM", root: null },
};

function route() {
	const clock = new VirtualClock();
	const observer = new Observer({
		config: {
			...{ runId: "run", nodeId: "a", role: "default", policyId: "hard" },
			http: undefined,
		},
		clock,
		log: { warn: (words) => expect.unreachable(words) },
	});
	const router = new Router({
		...{ observer, clock, metrics: new Metrics(0), page: new Map() },
		leave: () => expect.unreachable(),
	});
	/** `GET /status?wait`, from as many at once. */
	const follow = (count: number): Promise<Answer[]> => {
		const asked = {
			...{ method: "GET", path: "/status", host: "localhost", length: 0 },
			...{ authorization: undefined, cookie: undefined },
			query: new URLSearchParams("wait"),
		};
		const rule = { host: "127.0.0.1", port: 80, token: undefined };
		return Promise.all(
			Array.from({ length: count }, () => router.answer(asked, rule)),
		);
	};
	return { clock, observer, follow };
}

test("who follows a run for long leaves nothing behind in the agent", async () => {
	const warned = vi.spyOn(process, "emitWarning");
	onTestFinished(() => warned.mockRestore());
	const { clock, observer, follow } = route();
	for (let look = 0; look < 10; look += 1) {
		const answers = follow(20);
		await clock.advance(1_000);
		expect((await answers).map(({ status }) => status)).toEqual(
			Array(20).fill(200),
		);
	}
	expect(getEventListeners(observer.ended, "abort")).toEqual([]);
	expect(clock.nextAlarm).toBeUndefined();
	expect(warned).not.toHaveBeenCalled();
});

test("who follows a run is told of its end at once", async () => {
	const { clock, observer, follow } = route();
	const answers = follow(2);
	observer.follow(CLOSED);
	for (const { body } of await answers) {
		expect(JSON.parse(String(body))).toMatchObject({
			node: { phase: "CLOSED" },
		});
	}
	expect(clock.nextAlarm).toBeUndefined();
});
