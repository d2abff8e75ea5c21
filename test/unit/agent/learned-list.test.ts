import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import {
	digestOfCommand,
	LearnedList,
} from "../../../src/agent/workers/learned-list.js";
import type { SharedModules } from "../../../src/model/start.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const KEY = "/elastic-run/r/learned/d";
const SHARED = { modules: ["torch", "torch.nn"], bytes: 1_000 };

it("gives a node that waits what another node has learned", async () => {
	const { store, clock, open } = site();
	const waits = open();
	const works = open();
	works.imports.onProven(SHARED);
	await clock.advance(0);
	expect(waits.taken).toEqual([SHARED]);
	const late = open();
	await clock.advance(0);
	expect(late.taken).toEqual([SHARED]);
	const { entries } = await store.snapshot([KEY]);
	expect(entries.get(KEY)?.lease).toBeNull();
});

it("writes only what the store lacks", async () => {
	const { store, clock, open } = site();
	const { imports } = open();
	imports.onProven(SHARED);
	await clock.advance(0);
	const first = await store.snapshot([KEY]);
	imports.onProven({ ...SHARED, modules: ["torch"] });
	await clock.advance(0);
	expect((await store.snapshot([KEY])).revision).toBe(first.revision);
	imports.onProven({ ...SHARED, modules: ["torch", "json"] });
	await clock.advance(0);
	expect((await store.snapshot([KEY])).revision).not.toBe(first.revision);
});

it("says once that the store does not answer, and asks again later", async () => {
	const { clock, open, fail, said } = site();
	fail(true);
	const { taken } = open();
	await clock.advance(25_000);
	expect(said).toEqual([
		"the run's list of modules to import ahead cannot be read: no answer",
	]);
	fail(false);
	open().imports.onProven(SHARED);
	await clock.advance(10_000);
	expect(taken).toEqual([SHARED]);
});

it("asks nothing for a node that has workers, and takes nothing that is garbled", async () => {
	const { store, clock, open } = site();
	await store.transaction([], [{ put: KEY, value: '{"version":1}' }]);
	const { taken } = open();
	const { taken: never } = open(false);
	await clock.advance(0);
	open().imports.onProven(SHARED);
	await clock.advance(0);
	expect([taken, never]).toEqual([[SHARED], []]);
});

function site() {
	const clock = new VirtualClock();
	const memory = new MemoryStore();
	const said: string[] = [];
	let fails = false;
	const store = {
		snapshot: async (selectors: readonly string[]) => {
			if (fails) throw new Error("no answer");
			return memory.snapshot(selectors);
		},
		transaction: memory.transaction.bind(memory),
		watch: memory.watch.bind(memory),
	};
	const log = { info: (line: string) => void said.push(line), debug: () => {} };
	const open = (isIgnorant = true) => {
		const taken: SharedModules[] = [];
		const imports = {
			isIgnorant,
			onProven: (_: SharedModules) => {},
			adopt: (shared: SharedModules) => {
				taken.push(shared);
				imports.isIgnorant = false;
			},
		};
		const key = Promise.resolve(KEY);
		new LearnedList({ clock, log, store, key, imports, spec: SPEC });
		return { imports, taken };
	};
	return {
		clock,
		store: memory,
		said,
		open,
		fail: (now: boolean) => (fails = now),
	};
}

const SPEC = {
	...{ localRank: 0, file: "python3", args: [], cwd: "/", env: {} },
	...{ stdout: 1, stderr: 2 },
};

it.each([
	[["train.py"], ["train.py", "--lr", "1"], true],
	[["-m", "pkg.train"], ["-m", "pkg.train", "x"], true],
	[["-X", "dev", "train.py"], ["-X", "dev", "other.py"], false],
	[["train.py"], ["-u", "train.py"], false],
])("knows a command by its interpreter and script: %j, %j", async (left, right, isSame) => {
	const digest = (args: string[]) =>
		digestOfCommand({ file: "/no/python3", args, cwd: "/no/folder" });
	expect((await digest(left)) === (await digest(right))).toBe(isSame);
});

it("knows the script by its text, and the interpreter by the program that its name leads to", async () => {
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	for (const folder of ["a", "b"]) mkdirSync(join(path, folder));
	const write = (name: string, text: string) =>
		writeFileSync(join(path, name), text);
	const link = (target: string, name: string) =>
		symlinkSync(join(path, target), join(path, name));
	const digest = (file: string, cwd: string, ...args: readonly string[]) =>
		digestOfCommand({ file: join(path, file), args, cwd: join(path, cwd) });
	write("a/train.py", "import torch");
	write("b/main.py", "import torch");
	write("b/train.py", "import json");
	write("python3.11", "");
	write("python3.12", "");
	link("python3.11", "python3");
	link("python3", "python");
	link("python3.12", "b/python3");
	const one = await digest("python3", "a", "train.py");
	expect(await digest("python", "", "b/main.py", "--lr", "1")).toBe(one);
	expect(await digest("python3", "b", "train.py")).not.toBe(one);
	expect(await digest("b/python3", "a", "train.py")).not.toBe(one);
});
