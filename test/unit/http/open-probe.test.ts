import { expect, it } from "vitest";
import {
	type AgentState,
	INITIAL_STATE,
} from "../../../src/agent/machine/state.js";
import { answerProbe } from "../../../src/http/open-probe.js";
import { roundRecord, seatRecord } from "../../helpers/run-view.js";

const COMMON = {
	...INITIAL_STATE,
	view: { round: roundRecord({ synced: 2 }), seat: null },
	...{ instance: 1, failure: null, failuresReported: 0, round: 2 },
};
const seat = seatRecord("a");
const RUNNING: AgentState = { ...COMMON, phase: "RUNNING", seat, workers: [] };
const STOPPING: AgentState = {
	...{ ...RUNNING, phase: "STOPPING", claim: 3 },
};
const FINISHED: AgentState = { ...COMMON, phase: "FINISHED", planId: "p" };

it.each<[string, string, AgentState | undefined, number]>([
	["GET", "/up", undefined, 503],
	["GET", "/up", INITIAL_STATE, 503],
	["GET", "/up", RUNNING, 200],
	["HEAD", "/up", RUNNING, 200],
	["GET", "/up", STOPPING, 503],
	["GET", "/up", FINISHED, 200],
	["GET", "/", RUNNING, 404],
	["POST", "/up", RUNNING, 405],
])("%s %s is answered in the agent's state %j with %i", (method, path, state, status) => {
	expect(answerProbe({ method, path }, "/up", state).status).toBe(status);
});
