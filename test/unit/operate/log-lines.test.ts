import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { systemHost } from "../../../src/config/host.js";
import type { LogLine } from "../../../src/operate/log-source.js";
import {
	type LineChoice,
	lineInWords,
	showLogs,
} from "../../../src/operate/show-logs.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const NOW = new Date(2030, 0, 1, 12, 0, 10).getTime();

async function shown(
	choice: Partial<LineChoice>,
	others: Readonly<Record<string, string>> = {},
) {
	const folder = temporaryFolder();
	onTestFinished(() => folder.remove());
	const node = join(folder.path, "a");
	mkdirSync(join(node, "round-1", "0"), { recursive: true });
	const lines = [1, 2, 3].map((n) => `2030-01-01 12:00:0${n} line ${n}\n`);
	writeFileSync(join(node, "round-1", "0", "stdout.log"), lines.join(""));
	for (const [file, text] of Object.entries(others)) {
		mkdirSync(dirname(join(node, file)), { recursive: true });
		writeFileSync(join(node, file), text);
	}
	const found: string[] = [];
	await showLogs({
		hasRank: undefined,
		pattern: undefined,
		tail: undefined,
		since: undefined,
		...choice,
		logs: { runId: "r", instance: 1, nodes: [node] },
		follows: false,
		searcher: { host: systemHost({}), uid: 0, clock: new VirtualClock() },
		onLine: async ({ text }) => found.push(text.slice(20)) > 0,
	});
	return found;
}

it("logs --tail N shows the last N lines that are wanted", async () => {
	expect(await shown({})).toEqual(["line 1", "line 2", "line 3"]);
	expect(await shown({ tail: 2 })).toEqual(["line 2", "line 3"]);
	expect(await shown({ tail: 0 })).toEqual([]);
	expect(await shown({ tail: 1, pattern: /[12]$/ })).toEqual(["line 2"]);
});

it("logs --tail N shows N lines of each worker: the launcher's own do not count", async () => {
	const others = {
		"round-1/1/stdout.log": "2030-01-01 12:00:00 other 0\n",
		"agent.log": [4, 5]
			.map((n) => `2030-01-01 12:00:0${n} launcher ${n}\n`)
			.join(""),
	};
	expect(await shown({ tail: 1 }, others)).toEqual([
		"other 0",
		"line 3",
		"launcher 5",
	]);
});

it("logs --timestamps has the time first, and colours are those of the rank", () => {
	const line: LogLine = {
		...{ nodeId: "a", rank: 0, localRank: 0, round: 1, stream: "stdout" },
		...{ time: NOW + 5, timeFrom: "line", text: "x" },
	};
	const plain = { hasTime: true, colours: false };
	expect(lineInWords(line, plain)).toBe("2030-01-01 12:00:10.005 [a 0] x");
	expect(lineInWords({ ...line, timeFrom: "file" }, plain)).toBe(
		"(no time)               [a 0] x",
	);
	expect(lineInWords(line, { hasTime: false, colours: true })).toBe(
		"\x1b[36m[a 0]\x1b[39m x",
	);
});
