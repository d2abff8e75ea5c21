import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
	appendFileSync,
	closeSync,
	mkdtempSync,
	openSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import {
	type ConsoleOptions,
	createConsole,
	type WorkerConsole,
} from "../../src/logs/console-tail.js";

const MEBIBYTE = 1024 * 1024;
const LINES = 100_000;
let base = "";
let warnings: string[] = [];
let shown: WorkerConsole | undefined;

beforeEach(() => {
	base = mkdtempSync(join(tmpdir(), "elastic-run-test-"));
	warnings = [];
});
afterEach(() => {
	shown?.close();
	rmSync(base, { recursive: true });
});

/** Collects what it is given, or only counts it. */
class Sink extends Writable {
	text = "";
	bytes = 0;
	longest = 0;
	private readonly keep: boolean;

	constructor(keep = true) {
		super();
		this.keep = keep;
	}

	override _write(chunk: Buffer, _encoding: string, done: () => void): void {
		this.bytes += chunk.length;
		this.longest = Math.max(this.longest, chunk.length);
		if (this.keep) this.text += chunk.toString("latin1");
		done();
	}
}

function consoleOf(options: Partial<ConsoleOptions>): WorkerConsole {
	const ignore = () => {};
	shown = createConsole({
		clock: systemClock,
		stdout: new Sink(),
		stderr: new Sink(),
		stdoutIsTerminal: false,
		stderrIsTerminal: false,
		logger: {
			debug: ignore,
			info: ignore,
			warn: (message) => void warnings.push(message),
			error: ignore,
		},
		...options,
	});
	return shown;
}

/** A shell whose stdout is the file; resolves when it has ended. */
async function print(path: string, script: string): Promise<void> {
	const fd = openSync(path, "a", 0o600);
	const worker = spawn("sh", ["-c", script], {
		stdio: ["ignore", fd, "inherit"],
	});
	closeSync(fd);
	await once(worker, "exit");
}

const follow = (path: string, rank = 0) => ({
	path,
	from: 0,
	target: "stdout" as const,
	prefix: Buffer.from(`[${rank}] `),
	owner: `rank ${rank}, round 1`,
});

async function until(condition: () => boolean): Promise<void> {
	const deadline = performance.now() + 20_000;
	while (!condition()) {
		if (performance.now() > deadline)
			throw new Error("waited for 20 s in vain");
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

describe("the console", () => {
	it("shows lines while they are written, and the rest at the end", async () => {
		const stdout = new Sink();
		const path = join(base, "log");
		const end = consoleOf({ stdout }).follow(follow(path));
		writeFileSync(path, "one\ntw");
		await until(() => stdout.text === "[0] one\n");
		appendFileSync(path, "o\nthree");
		await until(() => stdout.text === "[0] one\n[0] two\n");
		await end.finish();
		expect(stdout.text).toBe("[0] one\n[0] two\n[0] three\n");
		appendFileSync(path, "late\n");
		await end.finish();
		expect(stdout.text).not.toContain("late");
	});

	// C5
	it("shows the same stack of another rank once, however it is written", async () => {
		const stdout = new Sink();
		const tail = consoleOf({ stdout });
		const [first, second] = [join(base, "0"), join(base, "1")];
		const stack = '  File "t.py", line 1, in <module>\n    load()\n';
		const last = "ValueError: x\n";
		writeFileSync(first, stack + last);
		await tail.follow(follow(first)).finish();
		writeFileSync(second, `one\n${stack.slice(0, 40)}`);
		const end = tail.follow(follow(second, 1));
		await until(() => stdout.text.includes("[1] one\n"));
		appendFileSync(second, stack.slice(40) + last);
		await end.finish();
		const [, shown] = stdout.text.split("[1] one\n");
		expect(Buffer.from(shown ?? "", "latin1").toString()).toBe(
			"[1]   … same as above (rank 0, round 1)\n[1] ValueError: x\n",
		);
	});

	it("neither loses nor tears a line of four concurrent writers", async () => {
		const stdout = new Sink();
		const tail = consoleOf({ stdout });
		await Promise.all(
			[0, 1, 2, 3].map(async (rank) => {
				const path = join(base, `log-${rank}`);
				writeFileSync(path, "");
				const end = tail.follow(follow(path, rank));
				await print(path, `seq -f 'worker ${rank} line %.0f' ${LINES}`);
				await end.finish();
			}),
		);
		const next = [1, 1, 1, 1];
		for (const line of stdout.text.trimEnd().split("\n")) {
			const match = /^\[(\d)\] worker (\d) line (\d+)$/.exec(line);
			const rank = Number(match?.[1]);
			if (match?.[2] !== match?.[1] || Number(match?.[3]) !== next[rank]) {
				throw new Error(`torn or missing: ${line}`);
			}
			next[rank] = Number(match?.[3]) + 1;
		}
		expect(next).toEqual(Array(4).fill(LINES + 1));
	});

	it("waits for a slow console instead of filling memory", async () => {
		const taken: (() => void)[] = [];
		let bytes = 0;
		const stdout = new Writable({
			write(chunk: Buffer, _encoding, done) {
				bytes += chunk.length;
				taken.push(done);
			},
		});
		const path = join(base, "log");
		writeFileSync(path, "0123456789\n".repeat(500_000));
		const tail = consoleOf({ stdout });
		const drained = tail.follow(follow(path)).finish();
		await until(() => taken.length === 1);
		expect(bytes).toBeLessThanOrEqual(MEBIBYTE);
		expect(stdout.writableLength).toBeLessThanOrEqual(MEBIBYTE);
		const drain = setInterval(() => taken.shift()?.(), 0);
		await drained;
		clearInterval(drain);
		expect(bytes).toBe("[0] 0123456789\n".length * 500_000);
	});

	it("skips on a terminal only, and says so", async () => {
		const terminal = new Sink();
		const file = new Sink(false);
		const path = join(base, "log");
		writeFileSync(path, "0123456789\n".repeat(2_000_000));
		const tail = consoleOf({
			stdout: terminal,
			stderr: file,
			stdoutIsTerminal: true,
		});
		await Promise.all([
			tail.follow(follow(path)).finish(),
			tail.follow({ ...follow(path), target: "stderr" }).finish(),
		]);
		const [notice, ...lines] = terminal.text.trimEnd().split("\n");
		expect(notice).toMatch(/^\[0\] .* 19 MiB not shown, see .*log$/);
		expect(new Set(lines)).toEqual(new Set(["[0] 0123456789"]));
		expect(terminal.bytes).toBeLessThan(2 * MEBIBYTE);
		expect(file.bytes).toBe("[0] 0123456789\n".length * 2_000_000);
	});
});

describe("the launcher's log", () => {
	it("is complete after SIGKILL", async () => {
		const log = join(base, "agent.log");
		const script = join(base, "logging.mts");
		writeFileSync(
			script,
			`import { createLogger } from "${join(process.cwd(), "src/logs/create-logger.ts")}";
				const logger = createLogger({ stderr: process.stderr, format: "pretty", level: "info", look: { dated: true, colours: false }, wallTime: () => 0 });
				logger.attachFile(${JSON.stringify(log)});
				for (let n = 1; n <= 1000; n += 1) logger.info("line " + n);
				process.kill(process.pid, "SIGKILL");`,
		);
		const process_ = spawn(
			process.execPath,
			["--import", import.meta.resolve("tsx"), script],
			{ stdio: "ignore" },
		);
		await once(process_, "exit");
		const lines = execFileSync("cat", [log], { encoding: "utf8" })
			.trimEnd()
			.split("\n");
		expect(lines).toHaveLength(1_000);
		expect(lines.at(-1)).toContain('"line 1000"');
	});
});
