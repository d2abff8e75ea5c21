import { expect, it } from "vitest";
import { intentAt } from "../../../src/agent/agent.js";
import type { Intent } from "../../../src/rendezvous/records/intent.js";
import type { NodeState } from "../../../src/rendezvous/records/records.js";
import { intentOf } from "../../helpers/run-settings.js";

it("a record says how far its workers came once they do not run any more", () => {
	const reached = { round: 1, step: 7 };
	const running = intentAt(intentOf({ state: "running" }), null, 0, reached);
	expect(running?.reached).toBeUndefined();
	const stopping = intentOf({ state: "stopping" });
	expect(intentAt(stopping, running, 0, reached)?.reached).toEqual(reached);
});

it("a record says when its workers ran in the round that it has left, until they run again", () => {
	let now = 0;
	const at = (state: NodeState, before: Intent | null) => {
		now += 10;
		return intentAt(intentOf({ state }), before, now);
	};
	const running = at("running", null);
	expect(at("running", running)).toEqual(running);
	const stopping = at("stopping", running);
	const ran = { ranSince: 10, ranUntil: 30 };
	expect(stopping).toMatchObject({ ...ran, since: 30 });
	const ready = at("ready", stopping);
	expect(ready).toMatchObject({ ...ran, since: 40 });
	const again = at("running", ready);
	expect(again?.ranSince).toBeUndefined();
	expect(again?.ranUntil).toBeUndefined();
});
