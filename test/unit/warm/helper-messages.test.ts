import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { exitOf } from "../../../src/warm/forked-worker.js";
import { decodeNews } from "../../../src/warm/helper-messages.js";
import {
	LARGEST_LIST_BYTES,
	readLearned,
} from "../../../src/warm/learned-imports.js";
import { temporaryFolder } from "../../helpers/processes.js";

it.for<readonly [string, unknown]>([
	['{"kind":"hello"}', { kind: "hello" }],
	['{"kind":"parked","pid":7}', { kind: "parked", pid: 7 }],
	['{"kind":"parked","pid":1}', undefined],
	['{"kind":"parked"}', undefined],
	['{"kind":"exited","pid":7,"status":256}', expect.anything()],
	['{"kind":"exited","pid":7,"status":-1}', undefined],
	[
		'{"kind":"refused","reason":"r","leaveOut":[{"module":"a","root":"a.b","what":"w"}],"sets":[{"variable":"A","value":"1"}]}',
		expect.anything(),
	],
	['{"kind":"refused","reason":"r","leaveOut":["a"],"sets":[]}', undefined],
	['{"kind":"refused","reason":"r","leaveOut":[],"sets":["A"]}', undefined],
	['{"kind":"refused","reason":"r"}', undefined],
	[
		'{"kind":"ready","modules":1,"bytes":2,"seconds":0,"left":[[3,"A"]]}',
		expect.anything(),
	],
	[
		'{"kind":"ready","modules":1,"bytes":2,"seconds":0,"left":[[3]]}',
		undefined,
	],
	['{"kind":"toString"}', undefined],
	["[]", undefined],
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
