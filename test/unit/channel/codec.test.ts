import { describe, expect, it } from "vitest";
import {
	decodeEvent,
	decodeReply,
	encodeEvent,
	encodeReply,
} from "../../../src/channel/codec.js";
import type { WorkerEvent, WorkerReply } from "../../../src/channel/events.js";
import { pause, work, workerInfo } from "./samples.js";

const PAUSE: WorkerEvent = {
	...pause(4),
	sequence: 2,
	timestamp: 1795163950075,
};

const WIRE = {
	version: 1,
	sequence: 2,
	timestamp: 1795163950075,
	kind: "PAUSE",
	worker_state: "PAUSED",
	change_event: "SCALE_DOWN",
	instance: 1795163940000,
	round: 4,
	reason: "node-b left: lease expired",
	worker_info: {
		local_rank: 0,
		role_rank: 1,
		rank: 2,
		local_world_size: 4,
		role_world_size: 6,
		world_size: 8,
		group_rank: 3,
		group_world_size: 5,
		role: "trainer",
		master_addr: "10.0.0.1",
		master_port: 40123,
		round: 4,
		restart_count: 7,
		run_id: "train-1f3a9c02",
	},
};

describe("T2 events", () => {
	it("have the wire's names", () => {
		expect(JSON.parse(encodeEvent(PAUSE))).toEqual(WIRE);
	});

	it("come back as they went", () => {
		const first: WorkerEvent = { ...work(1), sequence: 1, timestamp: 5 };
		expect(decodeEvent(encodeEvent(PAUSE)).event).toEqual(PAUSE);
		expect(decodeEvent(encodeEvent(first)).event).toEqual(first);
	});

	it("may have fields that are not known", () => {
		const worker_info = { ...WIRE.worker_info, colour: "red" };
		const text = JSON.stringify({ ...WIRE, worker_info, later: [1] });
		expect(decodeEvent(text).event.workerInfo).toEqual(workerInfo(4));
	});

	it.each([
		["", /JSON/],
		["null", /the message is not a JSON object/],
		["[1]", /the message is not a JSON object/],
		[{ version: 2 }, /version/],
		[{ sequence: 1.5 }, /sequence/],
		[{ sequence: "2" }, /sequence/],
		[{ timestamp: null }, /timestamp/],
		[{ kind: "STOP" }, /kind is not one of PAUSE, WORK, NOTICE/],
		[{ worker_state: 1 }, /worker_state/],
		[{ change_event: undefined }, /change_event/],
		[{ instance: -1 }, /instance/],
		[{ reason: 3 }, /reason/],
		[{ worker_info: null }, /worker_info/],
		[{ worker_info: { ...WIRE.worker_info, rank: "0" } }, /rank/],
		[{ worker_info: { ...WIRE.worker_info, run_id: undefined } }, /run_id/],
	])("are refused, naming the field: %j", (change, problem) => {
		const text =
			typeof change === "string"
				? change
				: JSON.stringify({ ...WIRE, ...change });
		expect(() => decodeEvent(text)).toThrow(problem);
	});
});

describe("replies", () => {
	const replies: WorkerReply[] = [
		{ kind: "HELLO" },
		{ kind: "ACK", event: 3 },
		{ kind: "WAITING", round: 4, message: "waiting" },
		{ kind: "WAITED" },
		{ kind: "WORKING", round: 4 },
		{ kind: "PROGRESS", step: 12, loss: 0.5, nested: { a: [1] } },
		{ kind: "ERROR", message: "Error: no", stack: "at x" },
		{ kind: "ERROR", message: "Error: no", stack: undefined },
	];

	it.each(replies)("come back as they went: $kind", (reply) => {
		expect(decodeReply(encodeReply(reply, 9, 77))).toEqual({
			...reply,
			sequence: 9,
			timestamp: 77,
		});
	});

	it("have the wire's names", () => {
		expect(JSON.parse(encodeReply({ kind: "HELLO" }, 1, 5))).toEqual({
			version: 1,
			sequence: 1,
			timestamp: 5,
			kind: "HELLO",
		});
	});

	it("of an unknown kind are undefined", () => {
		const text = '{"version":1,"sequence":1,"timestamp":5,"kind":"DANCE"}';
		expect(decodeReply(text)).toBeUndefined();
	});

	it.each([
		{ kind: "ACK" },
		{ kind: "WAITING", round: 1 },
		{ kind: "PROGRESS", step: null },
		{ kind: "ERROR", message: 3 },
		{ kind: "HELLO", version: 0 },
	])("are refused: %j", (fields) => {
		const text = JSON.stringify({
			version: 1,
			sequence: 1,
			timestamp: 5,
			...fields,
		});
		expect(() => decodeReply(text)).toThrow(TypeError);
	});
});
