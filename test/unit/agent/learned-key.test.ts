import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { digestOfCommand } from "../../../src/agent/workers/learned-key.js";
import { temporaryFolder } from "../../helpers/processes.js";

it.each([
	[["train.py"], ["train.py", "--lr", "1"], true],
	[["-m", "pkg.train"], ["-m", "pkg.train", "x"], true],
	[["-X", "dev", "train.py"], ["-X", "dev", "other.py"], false],
	[["-m", "pkg.train"], ["-m", "pkg.test"], false],
	[["train.py"], ["-u", "train.py"], false],
	[[], ["train.py"], false],
])("knows a command by its interpreter and script: %j, %j", async (left, right, isSame) => {
	const digest = (args: string[]) =>
		digestOfCommand({ file: "/no/python3", args, cwd: "/no/folder" });
	expect((await digest(left)) === (await digest(right))).toBe(isSame);
});

it("knows the script by its text, wherever it lies", async () => {
	const { digest, write } = machine();
	write("a/train.py", "import torch");
	write("b/main.py", "import torch");
	write("c/train.py", "import json");
	const here = await digest("python3", "a", "train.py");
	expect(await digest("python3", "b", "main.py")).toBe(here);
	expect(await digest("python3", "", "a/train.py", "--lr", "1")).toBe(here);
	expect(await digest("python3", "c", "train.py")).not.toBe(here);
});

it("knows the interpreter by the program that its name leads to", async () => {
	const { digest, write, link } = machine();
	write("train.py", "import torch");
	write("usr/python3.11", "");
	write("usr/python3.12", "");
	link("usr/python3.11", "old/python3");
	link("old/python3", "venv/python");
	link("usr/python3.12", "new/python3");
	const old = await digest("old/python3", "", "train.py");
	expect(await digest("venv/python", "", "train.py")).toBe(old);
	expect(await digest("new/python3", "", "train.py")).not.toBe(old);
});

function machine() {
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	const at = (name: string) => {
		mkdirSync(join(path, name, ".."), { recursive: true });
		return join(path, name);
	};
	return {
		write: (name: string, text: string) => writeFileSync(at(name), text),
		link: (target: string, name: string) => symlinkSync(at(target), at(name)),
		digest: (program: string, cwd: string, ...args: readonly string[]) =>
			digestOfCommand({
				file: join(path, program),
				args,
				cwd: join(path, cwd),
			}),
	};
}
