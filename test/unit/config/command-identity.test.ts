import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { identifyCommand } from "../../../src/config/resolve-identity.js";

const here = mkdtempSync(join(tmpdir(), "elastic-run-command-"));
const there = mkdtempSync(join(tmpdir(), "elastic-run-command-"));
afterAll(() => {
	for (const place of [here, there]) rmSync(place, { recursive: true });
});
writeFileSync(join(here, "train.py"), "print(1)");
writeFileSync(join(here, "other.py"), "print(2)");
writeFileSync(join(here, "job"), "#!/bin/sh");
writeFileSync(join(there, "train.py"), "print(1)");

const TRAIN = ["train.py", "--lr", "0.1"];

describe("two commands are the same", () => {
	it("where words and script are, whatever the directory is called", async () => {
		const [one, other] = await Promise.all([
			identifyCommand(TRAIN, here),
			identifyCommand(TRAIN, there),
		]);
		expect(one).toEqual(other);
		expect(one.scriptDigest).toMatch(/^[0-9a-f]{64}$/);
	});

	it.each<[string, readonly string[], "argumentsDigest" | "scriptDigest"]>([
		["another argument", ["train.py", "--lr", "0.2"], "argumentsDigest"],
		["words cut elsewhere", ["train.py", "--lr 0.1"], "argumentsDigest"],
		["another script", ["other.py", "--lr", "0.1"], "scriptDigest"],
		["a script that is not there", ["gone.py", "--lr", "0.1"], "scriptDigest"],
	])("not with %s", async (_, words, differs) => {
		const one = await identifyCommand(TRAIN, here);
		const other = await identifyCommand(words, here);
		expect(other[differs]).not.toBe(one[differs]);
	});
});

describe("the content counts", () => {
	it.each<[string, readonly string[], boolean]>([
		["of a script that a program runs", ["python3", "-u", "train.py"], true],
		["of a program given by its path", ["./job", "train.txt"], true],
		["not of a program found on PATH", ["job", "--fast"], false],
		["not of a directory", ["./"], false],
	])("%s", async (_, words, counts) => {
		const { scriptDigest } = await identifyCommand(words, here);
		expect(scriptDigest !== "").toBe(counts);
	});
});

describe("the words that messages show", () => {
	it.each<[string, readonly string[], string]>([
		[
			"hide what --token= says",
			["a.py", "--token=abc"],
			"a.py --token=(redacted)",
		],
		[
			"hide what follows --token",
			["a.py", "--token", "abc"],
			"a.py --token (redacted)",
		],
		["have no control characters", ["a.py", "\u001b[2Jx"], "a.py  [2Jx"],
	])("%s", async (_, typed, shown) => {
		expect((await identifyCommand(typed, here)).words).toBe(shown);
	});

	it("are cut after 200 characters", async () => {
		const { words } = await identifyCommand(["a.py", "x".repeat(500)], here);
		expect(words).toHaveLength(201);
	});
});
