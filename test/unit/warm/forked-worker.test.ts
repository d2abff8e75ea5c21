import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { exitOf, ForkedWorker } from "../../../src/warm/forked-worker.js";
import { decodeNews } from "../../../src/warm/helper-messages.js";
import {
	LARGEST_LIST_BYTES,
	readLearned,
} from "../../../src/warm/learned-imports.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

it.for<readonly [string, unknown]>([
	['{"kind":"hello"}', { kind: "hello" }],
	[
		'{"kind":"parked","pid":7,"localRank":1,"modules":2,"bytes":3,"seconds":0.1,"left":[],"reads":{"RANK":"1","ROLE_RANK":null}}',
		expect.anything(),
	],
	['{"kind":"parked"}', undefined],
	['{"kind":"exited","pid":7,"status":256}', expect.anything()],
	[
		'{"kind":"refused","reason":"r","leaveOut":[{"module":"a","root":"a.b","what":"w","alone":true}],"sets":[{"variable":"A","value":"1","alone":false}]}',
		expect.anything(),
	],
	['{"kind":"refused","reason":"r","leaveOut":["a"],"sets":[]}', undefined],
	[
		'{"kind":"ready","pid":9,"modules":1,"bytes":2,"seconds":0,"left":[[3,"A"]],"leaveOut":[],"sets":[]}',
		expect.anything(),
	],
	[
		'{"kind":"ready","pid":9,"modules":1,"bytes":2,"seconds":0,"left":[[3]],"leaveOut":[],"sets":[]}',
		undefined,
	],
	['{"kind":"toString"}', undefined],
	["not JSON", undefined],
])("takes only what a helper says: %s", ([line, news]) => {
	expect(decodeNews(line)).toEqual(news);
});

it.for([
	[0, { code: 0, signal: null }],
	[7 << 8, { code: 7, signal: null }],
	[9, { code: null, signal: "SIGKILL" }],
	[11 | 0x80, { code: null, signal: "SIGSEGV" }],
	[40, { code: 168, signal: null }],
] as const)("reads the status %d", ([status, exit]) => {
	expect(exitOf(status)).toEqual(exit);
});

it("takes only a list of modules that is one", () => {
	const folder = temporaryFolder();
	onTestFinished(folder.remove);
	const path = join(folder.path, "modules.json");
	const list = {
		...{ version: 1, pid: 7, executable: "/usr/bin/python3" },
		...{ arguments: ["-u", "train.py"], modules: ["os", "torch"] },
	};
	expect(readLearned(path)).toBeUndefined();
	writeFileSync(path, JSON.stringify(list));
	expect(readLearned(path)).toEqual(list);
	for (const wrong of [{ version: 2 }, { pid: "7" }, { modules: [7] }]) {
		writeFileSync(path, JSON.stringify({ ...list, ...wrong }));
		expect(readLearned(path)).toBeUndefined();
	}
	writeFileSync(path, JSON.stringify(list).padEnd(LARGEST_LIST_BYTES + 1));
	expect(readLearned(path)).toBeUndefined();
});

it("a forked worker has not begun once it was given up, even if it says so afterwards", () => {
	const late = new ForkedWorker(1_234, 1_233);
	late.refused("it did not begin within 2 s");
	late.begun();
	expect(late.isStarted).toBe(false);
	const inTime = new ForkedWorker(1_235, 1_233);
	inTime.begun();
	inTime.refused("it did not begin within 2 s");
	expect(inTime.isStarted).toBe(true);
});

it("a forked worker is not late if it had ended before its turn came, or has begun", async () => {
	const clock = new VirtualClock();
	const late: string[] = [];
	const ended = new ForkedWorker(1_234, 1_233);
	ended.ended(9);
	const begun = new ForkedWorker(1_235, 1_233);
	for (const one of [ended, begun]) {
		one.told(clock, (reason) => void late.push(reason));
	}
	begun.begun();
	await clock.advance(60_000);
	expect(late).toEqual([]);
	expect(ended.refusal).toBe("it ended before it began");
});

it("is another's than the worker's if its imports have read another place", () => {
	const parked = new ForkedWorker(7, 5, { RANK: "1", ROLE_RANK: null });
	expect(parked.differenceFrom({ RANK: "1", WORLD_SIZE: "2" })).toBe(undefined);
	expect(parked.differenceFrom({ RANK: "0" })).toBe("RANK");
	expect(parked.differenceFrom({ RANK: "1", ROLE_RANK: "1" })).toBe(
		"ROLE_RANK",
	);
});
