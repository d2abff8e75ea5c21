import { describe, expect, it } from "vitest";
import {
	decodeEvent,
	decodeReply,
	encodeEvent,
	encodeReply,
} from "../../../src/channel/codec.js";
import type { WorkerEvent, WorkerReply } from "../../../src/channel/events.js";
import CASES from "../../fixtures/channel/event-cases.json" with {
	type: "json",
};
import { pause, work, workerInfo } from "./samples.js";

const PAUSE: WorkerEvent = {
	...pause(4),
	sequence: 2,
	timestamp: 1795163950075,
};

describe("T2 events", () => {
	it("have the wire's names", () => {
		expect(JSON.parse(encodeEvent(PAUSE))).toEqual(CASES.event);
	});

	it("come back as they went", () => {
		const first: WorkerEvent = { ...work(1), sequence: 1, timestamp: 5 };
		expect(decodeEvent(encodeEvent(PAUSE)).event).toEqual(PAUSE);
		expect(decodeEvent(encodeEvent(first)).event).toEqual(first);
	});

	it("may have fields that are not known", () => {
		const worker_info = { ...CASES.event.worker_info, colour: "red" };
		const text = JSON.stringify({ ...CASES.event, worker_info, later: [1] });
		expect(decodeEvent(text).event.workerInfo).toEqual(workerInfo(4));
	});

	it.each(CASES.refused)("are refused, naming the field: $by", ({
		part,
		by,
		problem,
	}) => {
		const text = JSON.stringify(CASES.event).replace(part, by);
		expect(() => decodeEvent(text)).toThrow(new RegExp(problem));
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
