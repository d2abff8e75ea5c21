import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished, type TestContext } from "vitest";
import { example } from "../fixtures/checkpoint-examples.js";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { temporaryFolder } from "../helpers/processes.js";

/** Runs a program that replaces `path`, which holds "old"; returns what it printed and what the folder then holds. */
function replaceBy(context: TestContext, lines: readonly string[]) {
	needPython(context);
	const { path: folder, remove } = temporaryFolder();
	onTestFinished(remove);
	const path = join(folder, "state.pt");
	writeFileSync(path, "old");
	const start = "import os, stat, sys; from replace_file import replace_file";
	const program = [start, "path = sys.argv[1]", ...lines].join("\n");
	const { stdout, stderr } = spawnSync(PYTHON, ["-c", program, path], {
		encoding: "utf8",
		env: {
			PATH: process.env.PATH,
			PYTHONPATH: dirname(example("replace_file.py")),
			PYTHONDONTWRITEBYTECODE: "1",
		},
	});
	const text = readFileSync(path, "utf8");
	return { stdout, stderr, text, names: readdirSync(folder) };
}

it("replace_file.py: a file reaches the disk before it gets its name, and the name after it", (context) => {
	const { stdout, ...rest } = replaceBy(context, [
		"sync, replace = os.fsync, os.replace",
		"def fsync(fd): print('folder' if stat.S_ISDIR(os.fstat(fd).st_mode) else os.fstat(fd).st_size); sync(fd)",
		"def rename(a, b): print('name'); replace(a, b)",
		"os.fsync, os.replace = fsync, rename",
		"replace_file(path, lambda file: file.write(b'the new one'))",
	]);
	const text = "the new one";
	expect(rest).toEqual({ stderr: "", text, names: ["state.pt"] });
	expect(stdout.split("\n")).toEqual(["11", "name", "folder", ""]);
});

it("replace_file.py: one that cannot be written leaves the old file, and nothing else", (context) => {
	const { stderr, text, names } = replaceBy(context, [
		"replace_file(path, lambda file: [file.write(b'part'), sys.exit('full')])",
	]);
	expect(stderr).toBe("full\n");
	expect({ text, names }).toEqual({ text: "old", names: ["state.pt"] });
});

it("replace_file.py: two that write at once do not get into each other's way", (context) => {
	const { stderr, text, names } = replaceBy(context, [
		"def write(file): file.write(b'1'); replace_file(path, lambda other: other.write(b'2')); file.write(b'1')",
		"replace_file(path, write)",
	]);
	expect(stderr).toBe("");
	expect({ text, names }).toEqual({ text: "11", names: ["state.pt"] });
});
