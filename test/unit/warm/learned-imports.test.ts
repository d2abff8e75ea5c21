import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hookPaths } from "../../../src/channel/layout.js";
import type { WorkerSpec } from "../../../src/processes/worker.js";
import {
	ImportLearning,
	SETTLED_MS,
} from "../../../src/warm/learned-imports.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

let hook: string;
let clock: VirtualClock;
let heard: string[];
let learning: ImportLearning;

beforeEach(() => {
	hook = mkdtempSync(join(tmpdir(), "learned-imports-"));
	clock = new VirtualClock();
	heard = [];
	learning = new ImportLearning({
		clock,
		onLearned: ({ modules }, { pid }, after) => {
			heard.push(`${pid} after a ${after}: ${modules.join()}`);
		},
	});
	learning.prepare(spec());
	learning.begin({ pid: 7, spec: spec() });
});

afterEach(() => rmSync(hook, { recursive: true }));

describe("what a worker has imported is learned", () => {
	it("at its first step, if it has left its list by then", () => {
		expect(existsSync(hookPaths(hook).learn)).toBe(true);
		leave("a", "b");
		learning.stepped(7, "hook");
		learning.stepped(7, "hook");
		expect(heard).toEqual(["7 after a step: a,b"]);
		expect(learning.isSettled).toBe(true);
	});

	it("at its second step, if steps are only in its output", () => {
		leave("a");
		learning.stepped(7, "output");
		expect(heard).toEqual([]);
		learning.stepped(7, "output");
		expect(heard).toEqual(["7 after a step: a"]);
	});

	it("when it answers later", async () => {
		learning.stepped(7, "report");
		leave("a");
		await clock.advance(500);
		expect(heard).toEqual(["7 after a step: a"]);
	});

	it("without a step once it imports nothing more, and once more after a step", async () => {
		await clock.advance(SETTLED_MS);
		leave("a");
		await clock.advance(500);
		expect(heard).toEqual([]);
		await clock.advance(SETTLED_MS);
		leave("a");
		await clock.advance(500);
		expect(heard).toEqual(["7 after a time: a"]);
		expect(existsSync(hookPaths(hook).modules)).toBe(false);
		leave("a", "b");
		learning.stepped(7, "hook");
		expect(heard.at(-1)).toBe("7 after a step: a,b");
	});

	it("from no worker that is gone", async () => {
		leave("a");
		learning.gone(7);
		learning.stepped(7, "hook");
		await clock.advance(2 * SETTLED_MS);
		expect(heard).toEqual([]);
	});
});

function leave(...modules: readonly string[]): void {
	const list = { version: 1, pid: 7, executable: "python3", arguments: [] };
	writeFileSync(hookPaths(hook).modules, JSON.stringify({ ...list, modules }));
}

function spec(): WorkerSpec {
	return {
		...{ localRank: 0, file: "python3", args: [], cwd: "/" },
		...{ env: { ELASTIC_RUN_HOOK: hook }, stdout: 1, stderr: 2 },
	};
}
