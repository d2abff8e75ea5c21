import { spawnSync } from "node:child_process";
import {
	existsSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { readProcess } from "../../../src/base/process-stat.js";
import { claimHook } from "../../../src/channel/worker-hook.js";
import { temporaryDirectory, temporaryRoot } from "./samples.js";

let hook: string;
beforeEach(() => {
	hook = temporaryDirectory();
});

const started = (pid: number) => `${pid} ${readProcess(pid)?.startTime}\n`;
const owner = () => readFileSync(join(hook, "owner"), "utf8");
const ownedBy = (text: string) => writeFileSync(join(hook, "owner"), text);

/** The pid of a process that is gone. */
const deadPid = () => spawnSync("true").pid;

describe("a worker's hook", () => {
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
});

/** A socket's stand-in, in a directory that is called like this. */
function socketIn(prefix: string): string {
	const directory = mkdtempSync(join(tmpdir(), prefix));
	onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
	const socket = join(directory, "torch.sock");
	writeFileSync(socket, "");
	return socket;
}

function channelSaying(torch_socket: string | null) {
	const root = temporaryRoot();
	const channel = root.createWorker(0);
	const ready = { version: 1, kind: "python", pid: 1, signal: 41 };
	writeFileSync(
		join(channel.makeHook(), "ready.json"),
		JSON.stringify({ ...ready, torch_socket }),
	);
	return { root, channel };
}

describe("a torch socket outside of the channel", () => {
	it.each([
		"channel",
		"root",
	] as const)("goes with the %s of its worker", (what) => {
		const socket = socketIn("elastic-run-hook-");
		channelSaying(socket)[what].remove();
		expect(existsSync(dirname(socket))).toBe(false);
	});

	it("of a place that is not the hook's stays", () => {
		const socket = socketIn("mine-");
		channelSaying(socket).channel.remove();
		expect(existsSync(socket)).toBe(true);
	});
});
