import {
	chmodSync,
	closeSync,
	existsSync,
	mkdirSync,
	openSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { readProcess } from "../../src/base/process-stat.js";
import { openProcessSpawner } from "../../src/processes/process-spawner.js";
import { findSetpriv } from "../../src/processes/setpriv.js";
import type {
	SpawnProblem,
	WorkerExit,
	WorkerHandle,
	WorkerSpec,
} from "../../src/processes/worker.js";
import {
	endProcess,
	isAlive,
	temporaryFolder,
	waitFor,
} from "../helpers/processes.js";

const onLinux = process.platform === "linux";
const setpriv = await findSetpriv(process.env.PATH);
let folder: ReturnType<typeof temporaryFolder>;
let strays: number[];
let registered: string[];

beforeEach(() => {
	folder = temporaryFolder();
	strays = [];
	registered = [];
});
afterEach(() => {
	for (const pid of strays) endProcess(pid);
	folder.remove();
});

const load = (tool: string | undefined) =>
	openProcessSpawner({
		clock: systemClock,
		setpriv: tool,
		registry: {
			add: (id) => registered.push(`+${id}`),
			remove: (id) => registered.push(`-${id}`),
		},
		warn: (message) => expect.unreachable(message),
	});
const plain = load(undefined);
const withTool = load(setpriv);

/** A worker and all that its listener was told, in order. */
interface Watched {
	readonly handle: WorkerHandle;
	readonly pid: number;
	readonly told: string[];
	exit?: WorkerExit;
	problem?: SpawnProblem;
	onExited?: () => void;
	output(): string;
	/** The pid that its output gives a name to. */
	pidOf(name: string): Promise<number>;
}

async function start(
	fixture: string,
	change: Partial<WorkerSpec> = {},
	way: "directly" | "through setpriv" = "through setpriv",
): Promise<Watched> {
	const spawner = await (way === "directly" ? plain : withTool);
	const file = resolve("test/fixtures/workers", fixture);
	const log = join(folder.path, "output");
	const stdout = openSync(log, "a");
	const env = {
		PATH: process.env.PATH ?? "",
		RELEASE: join(folder.path, "release"),
	};
	const spec = { localRank: 0, file, args: [], cwd: folder.path, env };
	const told: string[] = [];
	const seen: Pick<Watched, "exit" | "problem" | "onExited"> = {};
	const handle = spawner.spawn(
		{ ...spec, stdout, stderr: stdout, ...change },
		{
			spawnFailed(problem) {
				seen.problem = problem;
				told.push(`failed ${problem.code}`);
			},
			exited(exit, groupRemains) {
				seen.exit = exit;
				const how = exit.signal ?? exit.code;
				told.push(`exited ${how}${groupRemains ? ", group remains" : ""}`);
				seen.onExited?.();
			},
			gone: () => told.push("gone"),
		},
	);
	closeSync(stdout);
	expect(told).toEqual([]);
	const output = () => readFileSync(log, "utf8");
	if (handle.pid !== undefined) strays.push(handle.pid);
	return Object.assign(seen, {
		handle,
		pid: handle.pid ?? -1,
		told,
		output,
		async pidOf(name: string) {
			const pid = await waitFor(`the pid of ${name}`, () => {
				const found = new RegExp(`^${name} (\\d+)$`, "m").exec(output());
				return found?.[1] === undefined ? undefined : Number(found[1]);
			});
			strays.push(pid);
			return pid;
		},
	});
}

const ready = (worker: Watched) =>
	waitFor("the worker to be ready", () => worker.output().includes("ready"));
const gone = (worker: Watched) =>
	waitFor("the end of its group", () => worker.told.includes("gone"));

describe("a worker's process group", () => {
	test.each([
		"directly",
		"through setpriv",
	] as const)("ends with its children of SIGTERM, started %s", async (way) => {
		const worker = await start("has-child.sh", {}, way);
		await ready(worker);
		const child = await worker.pidOf("child");
		expect(readProcess(worker.pid)?.groupId).toBe(worker.pid);
		worker.handle.signal("SIGTERM");
		await gone(worker);
		expect(worker.told.at(0)).toMatch(/^exited SIGTERM/);
		expect(worker.told.at(-1)).toBe("gone");
		expect(worker.exit?.signalledByAgent).toBe(true);
		expect([worker.pid, child].filter(isAlive)).toEqual([]);
		expect(registered).toEqual([`+${worker.pid}`, `-${worker.pid}`]);
	});

	test("is not gone while the trainer in a shell that died still flushes", async () => {
		const worker = await start("flushes-on-term.sh");
		await ready(worker);
		const trainer = await worker.pidOf("child");
		worker.handle.signal("SIGTERM");
		await waitFor("the shell to end", () => worker.told.length > 0);
		expect(worker.told).toEqual(["exited SIGTERM, group remains"]);
		expect(isAlive(trainer)).toBe(true);
		writeFileSync(join(folder.path, "release"), "");
		await gone(worker);
		expect(worker.output()).toContain("flushed");
	});

	test("that outlives its leader is told of, and can be ended", async () => {
		const worker = await start("leaves-child.sh");
		await waitFor("the leader to end", () => worker.told.length > 0);
		const child = await worker.pidOf("child");
		expect(worker.told).toEqual(["exited 0, group remains"]);
		expect(worker.exit).toMatchObject({ code: 0, signalledByAgent: false });
		expect(isAlive(child)).toBe(true);
		worker.handle.signal("SIGKILL");
		await gone(worker);
		expect(isAlive(child)).toBe(false);
	});

	test.skipIf(!onLinux)(
		"that died together with another is not charged with our signal either",
		async () => {
			const release = join(folder.path, "release");
			// Unlike a loop in the shell, this one begins no processes.
			const die = `until [ -e '${release}' ]; do :; done; kill -SEGV $$`;
			const spec = { file: "/bin/sh", args: ["-c", die] };
			const workers = [await start("", spec), await start("", spec)];
			// Told of the first end, an agent stops the others within the same turn.
			for (const worker of workers) {
				worker.onExited = () => {
					for (const { handle } of workers) handle.signal("SIGTERM");
				};
			}
			writeFileSync(release, "");
			// Without a turn of the event loop none of the ends can have been seen.
			while (workers.some(({ pid }) => readProcess(pid)?.state !== "Z"));
			await Promise.all(workers.map(gone));
			for (const { exit } of workers) {
				expect(exit).toMatchObject({
					signal: "SIGSEGV",
					signalledByAgent: false,
				});
			}
		},
	);
});

describe("a spawn that fails", () => {
	const cases: [string, () => Partial<WorkerSpec>, string, RegExp][] = [
		[
			"a program that is not there",
			() => ({ file: "/no/such/program" }),
			"ENOENT",
			/"\/no\/such\/program" does not exist/,
		],
		[
			"a missing working directory",
			() => ({ cwd: "/no/such/place" }),
			"ENOENT",
			/working directory "\/no\/such\/place"/,
		],
		[
			"a missing interpreter",
			() => ({ file: script("odd", "#!/no/such/shell -e\n", 0o755) }),
			"ENOENT",
			/interpreter "\/no\/such\/shell"/,
		],
		[
			"arguments that are too long",
			() => ({ args: Array(64).fill("x".repeat(100_000)) }),
			"E2BIG",
			/put them in a file/,
		],
	];

	function script(name: string, text: string, mode: number): string {
		const path = join(folder.path, name);
		writeFileSync(path, text);
		chmodSync(path, mode);
		return path;
	}

	test.each(cases)("names %s", async (_, change, code, message) => {
		const spec = change();
		for (const way of ["directly", "through setpriv"] as const) {
			const worker = await start("has-child.sh", spec, way);
			await gone(worker);
			expect(worker.told).toEqual([`failed ${code}`, "gone"]);
			expect(worker.problem?.message).toMatch(message);
			expect(worker.handle.pid).toBeUndefined();
			expect(registered).toEqual([]);
			worker.handle.signal("SIGKILL");
		}
	});
});

describe("the tool that kills a worker with its agent", () => {
	test.skipIf(!onLinux)("is not taken where it cannot do it", async () => {
		mkdirSync(join(folder.path, "bin"));
		const fake = join(folder.path, "bin", "setpriv");
		writeFileSync(
			fake,
			"#!/bin/sh\necho 'unrecognized option: pdeathsig' >&2\nexit 1\n",
		);
		chmodSync(fake, 0o755);
		expect(existsSync(fake)).toBe(true);
		expect(await findSetpriv(join(folder.path, "bin"))).toBeUndefined();
		expect(await findSetpriv("/no/such/place:relative")).toBeUndefined();
		expect(await findSetpriv(undefined)).toBeUndefined();
	});
});
