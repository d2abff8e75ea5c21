import { spawn } from "node:child_process";
import { once } from "node:events";
import {
	chmodSync,
	existsSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	renameSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ElasticRunError } from "../../../src/base/errors.js";
import { lastLines } from "../../../src/logs/last-lines.js";
import {
	type LogDirectoryOptions,
	openLogDirectory,
} from "../../../src/logs/log-directory.js";

const both = { stdout: true, stderr: true };
let base = "";

beforeEach(() => {
	base = mkdtempSync(join(tmpdir(), "elastic-run-test-"));
});
afterEach(() => {
	rmSync(base, { recursive: true });
});

const open = (options: Partial<LogDirectoryOptions> = {}) =>
	openLogDirectory({
		logDir: join(base, "logs"),
		tmpdir: base,
		runId: "train",
		instance: 17,
		nodeId: "node-a",
		...options,
	});

async function run(
	logs: ReturnType<ReturnType<typeof open>["openWorker"]>,
	script: string,
) {
	const { stdout, stderr } = logs;
	const worker = spawn("sh", ["-c", script], {
		stdio: ["ignore", stdout?.fd ?? "ignore", stderr?.fd ?? "ignore"],
	});
	logs.closeDescriptors();
	await once(worker, "exit");
}

function refusal(action: () => unknown): ElasticRunError {
	try {
		action();
	} catch (error) {
		if (error instanceof ElasticRunError) return error;
		throw error;
	}
	throw new Error("was not refused");
}

describe("openLogDirectory", () => {
	it("lays out directories and files for their owner only", async () => {
		const node = open();
		const logs = node.openWorker(3, 1, both);
		await run(logs, "echo out; echo err >&2");
		const root = join(base, "logs");
		expect(node.directory).toBe(join(root, "train", "17", "node-a"));
		expect(node.agentLog).toBe(join(node.directory, "agent.log"));
		expect(logs.directory).toBe(join(node.directory, "round-3", "1"));
		expect(logs.errorFile).toBe(join(logs.directory, "error.json"));
		expect(readlinkSync(join(root, "train", "latest"))).toBe("17");
		const read = (name: string) =>
			readFileSync(join(logs.directory, name), "utf8");
		expect([read("stdout.log"), read("stderr.log")]).toEqual([
			"out\n",
			"err\n",
		]);
		const mode = (path: string) => lstatSync(path).mode & 0o777;
		expect(mode(root)).toBe(0o700);
		expect(mode(logs.directory)).toBe(0o700);
		expect(mode(join(logs.directory, "stdout.log"))).toBe(0o600);
		expect(readdirSync(node.directory)).toEqual(["round-3"]);
	});

	it("keeps everything older, also in the very same directory", async () => {
		await run(open().openWorker(1, 0, both), "echo one");
		const again = open().openWorker(1, 0, both);
		expect(again.stdout?.startBytes).toBe(4);
		writeFileSync(again.errorFile, "first");
		await run(again, "echo two");
		const third = open().openWorker(1, 0, both);
		writeFileSync(third.errorFile, "second");
		third.closeDescriptors();
		const fourth = open().openWorker(1, 0, both);
		fourth.closeDescriptors();
		const stdout = join(fourth.directory, "stdout.log");
		expect(readFileSync(stdout, "utf8")).toBe("one\ntwo\n");
		expect(existsSync(fourth.errorFile)).toBe(false);
		const older = (name: string) =>
			readFileSync(join(fourth.directory, name), "utf8");
		expect([older("error.1.json"), older("error.2.json")]).toEqual([
			"first",
			"second",
		]);
	});

	it("lets `latest` point to the newest instance, never back", () => {
		const latest = () => readlinkSync(join(base, "logs", "train", "latest"));
		open({ instance: 5 });
		open({ instance: 12 });
		expect(latest()).toBe("12");
		open({ instance: 7 });
		expect(latest()).toBe("12");
		expect(readdirSync(join(base, "logs", "train")).sort()).toEqual([
			"12",
			"5",
			"7",
			"latest",
		]);
	});

	it("has the last words of a worker that was killed", async () => {
		const logs = open().openWorker(1, 0, both);
		const path = logs.stderr?.path ?? "";
		await run(logs, "for i in 1 2 3; do echo line $i >&2; done; kill -9 $$");
		expect(lastLines(path)).toEqual(["line 1", "line 2", "line 3"]);
	});
});

describe("createAhead", () => {
	const waiting = (node: ReturnType<typeof open>) =>
		join(node.directory, ".next");

	it("has the next worker's files there before they are wanted", async () => {
		const node = open();
		await run(node.openWorker(1, 0, both), "echo one");
		node.createAhead(0, both);
		node.createAhead(0, both);
		node.createAhead(1, { stdout: false, stderr: true });
		const made = join(waiting(node), "0", "stdout.log");
		const { ino } = lstatSync(made);
		expect(lstatSync(made).mode & 0o777).toBe(0o600);
		expect(readdirSync(join(waiting(node), "1"))).toEqual(["stderr.log"]);

		const next = node.openWorker(4, 0, both);
		expect(next.directory).toBe(join(node.directory, "round-4", "0"));
		expect(lstatSync(next.stdout?.path ?? "").ino).toBe(ino);
		await run(next, "echo two");
		expect(readFileSync(next.stdout?.path ?? "", "utf8")).toBe("two\n");
		// It has been taken: the one after it is made like the first.
		await run(node.openWorker(5, 0, both), "echo three");
		expect(readdirSync(waiting(node))).toEqual(["1"]);
		node.discardUnused();
		expect(readdirSync(node.directory).sort()).toEqual([
			"round-1",
			"round-4",
			"round-5",
		]);
	});

	it("removes nothing that has something in it", async () => {
		const node = open();
		await run(node.openWorker(1, 0, both), "true");
		node.createAhead(0, both);
		writeFileSync(join(waiting(node), "0", "stdout.log"), "a user's");
		node.discardUnused();
		expect(readdirSync(join(waiting(node), "0"))).toEqual(["stdout.log"]);
	});

	it.each([
		["a link in place of all", [], true],
		["a link in place of one", ["0"], true],
		["a file in place of one", ["0"], false],
	])("is done without where somebody has put %s", async (_, below, isLink) => {
		const node = open();
		await run(node.openWorker(1, 0, both), "true");
		node.createAhead(0, both);
		const foreign = mkdtempSync(join(base, "foreign-"));
		mkdirSync(join(foreign, "0"));
		const place = join(waiting(node), ...below);
		renameSync(place, join(node.directory, "away"));
		if (isLink) symlinkSync(foreign, place);
		else writeFileSync(place, "a user's");
		const next = node.openWorker(2, 0, both);
		expect(lstatSync(next.directory).isDirectory()).toBe(true);
		expect(readdirSync(foreign, { recursive: true })).toEqual(["0"]);
		await run(next, "echo two");
		expect(readFileSync(next.stdout?.path ?? "", "utf8")).toBe("two\n");
	});

	it("is done without where a link was planted, or all has been removed", async () => {
		const node = open();
		await run(node.openWorker(1, 0, both), "true");
		symlinkSync(base, waiting(node));
		node.createAhead(0, both);
		expect(existsSync(join(base, "0"))).toBe(false);
		await run(node.openWorker(2, 0, both), "true");
		node.discardUnused();
		expect(existsSync(base)).toBe(true);

		rmSync(waiting(node));
		node.createAhead(0, both);
		rmSync(node.directory, { recursive: true });
		await run(node.openWorker(3, 0, both), "true");
		expect(readdirSync(node.directory)).toEqual(["round-3"]);
	});
});

describe("discardUnused", () => {
	it("leaves nothing of a launch that failed at once", () => {
		open({ logDir: join(base, "deep", "er", "logs") }).discardUnused();
		open({ logDir: undefined }).discardUnused();
		const logged = open({ logDir: undefined });
		writeFileSync(logged.agentLog, "refused\n");
		expect(logged.kept).toBeNull();
		logged.discardUnused();
		expect(readdirSync(base)).toEqual([]);
	});

	it("removes only what it made itself and what is empty", async () => {
		mkdirSync(join(base, "logs"));
		const other = open({ instance: 1, nodeId: "node-b" });
		await run(other.openWorker(1, 0, both), "echo kept");
		expect(other.kept).toBe(other.directory);
		const mine = open({ instance: 2 });
		mine.discardUnused();
		expect(readdirSync(join(base, "logs", "train"))).toEqual(["1", "latest"]);
		expect(readlinkSync(join(base, "logs", "train", "latest"))).toBe("1");
		other.discardUnused();
		expect(readdirSync(join(base, "logs"))).toEqual(["train"]);
		const kept = join(other.directory, "round-1", "0", "stdout.log");
		expect(readFileSync(kept, "utf8")).toBe("kept\n");
	});

	it.each([
		undefined,
		"logs",
	])("removes nothing any more once a worker's files were opened (%s)", (logDir) => {
		const node = open({ logDir: logDir && join(base, logDir) });
		writeFileSync(node.agentLog, "started\n");
		const worker = node.openWorker(1, 0, both);
		worker.closeDescriptors();
		node.discardUnused();
		expect(readdirSync(worker.directory)).toHaveLength(2);
		expect(existsSync(node.agentLog)).toBe(true);
	});
});

describe("a directory that cannot be used", () => {
	it("is refused by name, with the fix, and leaves nothing behind", () => {
		writeFileSync(join(base, "file"), "");
		const error = refusal(() => open({ logDir: join(base, "file", "logs") }));
		expect(error.exitCode).toBe(2);
		expect(error.message).toContain(`--log-dir ${join(base, "file", "logs")}`);
		expect(error.message).toContain("choose a directory");
		expect(refusal(() => open({ logDir: join(base, "file") })).code).toBe(
			"USAGE",
		);
		expect(readdirSync(base)).toEqual(["file"]);
	});

	it("is refused without permission", (ctx) => {
		if (process.geteuid?.() === 0) ctx.skip("root may write everywhere");
		chmodSync(base, 0o500);
		const error = refusal(() => open());
		chmodSync(base, 0o700);
		expect(error.message).toContain("permission denied");
	});

	it("is refused where nothing can be made at all", () => {
		const error = refusal(() => open({ logDir: "/proc/elastic-run" }));
		expect(error.message).toContain("--log-dir /proc/elastic-run");
		const temporary = { logDir: undefined, tmpdir: join(base, "absent") };
		expect(refusal(() => open(temporary)).message).toContain("set TMPDIR");
	});

	it.each([
		"train",
		"train/17",
		"train/17/node-a",
	])("is refused where a link was planted at %s", (planted) => {
		const path = join(base, "logs", planted);
		mkdirSync(join(path, ".."), { recursive: true });
		symlinkSync(tmpdir(), path);
		expect(refusal(() => open()).message).toContain("symbolic link");
	});

	it("refuses a link in place of a worker's file or directory", () => {
		const node = open();
		const victim = join(base, "victim");
		writeFileSync(victim, "precious");
		const directory = join(node.directory, "round-1", "0");
		mkdirSync(directory, { recursive: true });
		symlinkSync(victim, join(directory, "stdout.log"));
		symlinkSync(base, join(node.directory, "round-2"));
		expect(refusal(() => node.openWorker(1, 0, both)).code).toBe("USAGE");
		expect(refusal(() => node.openWorker(2, 0, both)).code).toBe("USAGE");
		expect(readFileSync(victim, "utf8")).toBe("precious");
	});

	it("may itself be a link of the user's", () => {
		mkdirSync(join(base, "disk"));
		symlinkSync(join(base, "disk"), join(base, "logs"));
		open();
		expect(readdirSync(join(base, "disk"))).toEqual(["train"]);
	});
});
