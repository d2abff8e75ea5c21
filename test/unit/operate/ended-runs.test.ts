import { chownSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
	endedRunsDirectory,
	forgetEndedRuns,
	readEndedRuns,
	writeEndedRun,
} from "../../../src/node-files/ended-runs.js";
import { temporaryFolder } from "../../helpers/processes.js";

const NOW = Date.UTC(2026, 0, 31);
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const OWN = process.getuid?.() ?? 0;

const HOME_STATE = "/home/a/.local/state/elastic-run";

const RUN = {
	runId: "train",
	nodeId: "node-a",
	backend: "memory" as const,
	endedAt: NOW,
	logDirectory: undefined,
	snapshot: { revision: 1, entries: new Map() },
};

function folder(): string {
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	return path;
}

describe("records of ended runs", () => {
	it("are not shown after a week, also while no launcher has removed them", () => {
		const directory = join(folder(), "state/elastic-run");
		writeEndedRun(directory, OWN, "a", RUN);
		const namesAt = (age: number) =>
			readEndedRuns(directory, OWN, NOW + age).map(({ runId }) => runId);
		expect(namesAt(WEEK_MS - HOUR_MS)).toEqual(["train"]);
		expect(namesAt(WEEK_MS + HOUR_MS)).toEqual([]);
		expect(readdirSync(directory)).toHaveLength(1);
	});

	it("are removed after a week, and the oldest of more than 500; other files stay", () => {
		const directory = folder();
		const names = Array.from({ length: 502 }, (_, n) => `${NOW + n}-a.json`);
		for (const name of [...names, `${NOW - WEEK_MS - 1}-a.json`, "notes.json"])
			writeFileSync(join(directory, name), "{}");
		forgetEndedRuns(directory, OWN, NOW);
		expect(readdirSync(directory).sort()).toEqual(
			[...names.slice(2), "notes.json"].sort(),
		);
	});

	it("are not written into the home of another user, where sudo has left HOME as it was", () => {
		const home = folder();
		if (OWN === 0) chownSync(home, 1, 1);
		const writer = OWN === 0 ? 0 : OWN + 1;
		const directory = join(home, ".local/state/elastic-run");
		expect(() => writeEndedRun(directory, writer, "a", RUN)).toThrow(
			`${home} belongs to user`,
		);
		expect(existsSync(join(home, ".local"))).toBe(false);
	});

	it.each([
		[{ XDG_STATE_HOME: "/state", HOME: "/home/a" }, "/state/elastic-run"],
		[{ XDG_STATE_HOME: "state", HOME: "/home/a" }, HOME_STATE],
		[{ XDG_STATE_HOME: "", HOME: "/home/a" }, HOME_STATE],
		[{ XDG_STATE_HOME: "state" }, "/tmp/elastic-run-state-7"],
	])("with %j are in %s", (environment, directory) => {
		const host = { environment, temporaryDirectory: "/tmp" };
		expect(endedRunsDirectory(host, 7)).toBe(directory);
	});
});
