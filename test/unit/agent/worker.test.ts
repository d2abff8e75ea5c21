import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
	toEnd,
	toExited,
	toGone,
	toHeard,
	toKilled,
	toNotBehind,
	toPausing,
	toWorking,
	type WorkerSlot,
} from "../../../src/agent/machine/worker.js";
import { workerSlot as slot } from "../../helpers/worker-slots.js";

const TIMES = { leaveBy: 60_000, killAt: 30_000 };
const SAVES = { behindUntil: 60_000, endedLate: true };

/** Workers of each status that differ in what follows. */
const ROWS: Readonly<Record<string, readonly WorkerSlot[]>> = {
	running: [slot(0), slot(0, { killAt: 9_000 })],
	pausing: [
		slot(0, { status: "pausing", events: 2 }),
		slot(0, { status: "pausing", events: 2, heard: 2, ...SAVES }),
		slot(0, { status: "pausing", events: 2, ...SAVES }),
	],
	paused: [slot(0, { status: "paused", events: 2, heard: 2 })],
	exited: [slot(0, { status: "exited" })],
	gone: [slot(0, { status: "gone" })],
};

const COLUMNS: Readonly<Record<string, (worker: WorkerSlot) => WorkerSlot>> = {
	attached: (worker) => ({ ...worker, attached: true }),
	acknowledged: (worker) => toHeard(worker, 2),
	waits: toNotBehind,
	exited: (worker) => toExited(worker, { groupRemains: true }, 30_000),
	gone: toGone,
	pause: (worker) => toPausing(worker, "SCALE_DOWN", TIMES, 0),
	work: toWorking,
	end: (worker) => toEnd(worker, 30_000),
	kill: (worker) => toKilled(worker, 5_000),
};

/** The cells of the table at the head of worker.ts, as written there. */
function writtenTable(): ReadonlyMap<string, readonly string[]> {
	const path = new URL("../../../src/agent/machine/worker.ts", import.meta.url);
	const lines = readFileSync(path, "utf8")
		.split("\n")
		.filter((line) => /^ \* {3}\w+ +\|.*\|.*\|.*\|/.test(line))
		.map((line) => line.slice(3).split("|"))
		.map((cells) => cells.map((cell) => cell.trim()));
	const [head = [], ...rows] = lines;
	return new Map(
		rows.flatMap(([status, ...cells]) =>
			cells.map((cell, at) => [
				`${status} ${head[at + 1]}`,
				cell.split(" ").sort(),
			]),
		),
	);
}

describe("the table at the head of worker.ts", () => {
	const written = writtenTable();

	it("has a cell for each status and event", () => {
		const all = Object.keys(ROWS).flatMap((status) =>
			Object.keys(COLUMNS).map((event) => `${status} ${event}`),
		);
		expect([...written.keys()].sort()).toEqual(all.sort());
	});

	it.each(
		[...written].filter(([, cell]) => cell[0] !== "-"),
	)("%s leads to %j", (name, cell) => {
		const [status = "", event = ""] = name.split(" ");
		const after = COLUMNS[event];
		const reached = new Set(
			ROWS[status]?.map((worker) => after?.(worker).status),
		);
		expect([...reached].sort()).toEqual(cell);
	});
});
