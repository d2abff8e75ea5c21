import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { readProcess } from "../../../src/base/process-stat.js";
import { claimHook } from "../../../src/channel/worker-hook.js";
import { temporaryDirectory } from "./samples.js";

let hook: string;
beforeEach(() => {
	hook = temporaryDirectory();
});

const started = (pid: number) => `${pid} ${readProcess(pid)?.startTime}\n`;
const owner = () => readFileSync(join(hook, "owner"), "utf8");
const ownedBy = (text: string) => writeFileSync(join(hook, "owner"), text);

/** The pid of a process that is gone. */
const deadPid = () => spawnSync("true").pid;

it("is claimed by the first process, and leaves only the owner's file", () => {
	expect(claimHook(hook)).toBe(true);
	expect(owner()).toBe(started(process.pid));
	expect(readdirSync(hook)).toEqual(["owner"]);
});

it("is left to an owner that lives", () => {
	ownedBy(started(process.ppid));
	expect(claimHook(hook)).toBe(false);
	expect(owner()).toBe(started(process.ppid));
	expect(readdirSync(hook)).toEqual(["owner"]);
});

it.each([
	["has ended", () => `${deadPid()} 1\n`],
	["had the same pid before another process", () => `${process.ppid} 1\n`],
	["wrote nothing that is understood", () => "somebody\n"],
])("is taken over from an owner that %s", (_, text) => {
	ownedBy(text());
	expect(claimHook(hook)).toBe(true);
	expect(owner()).toBe(started(process.pid));
	expect(readdirSync(hook)).toEqual(["owner"]);
});

it("fails where there is no directory", () => {
	expect(() => claimHook(join(hook, "none"))).toThrow(/ENOENT/);
});
