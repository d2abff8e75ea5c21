// The hook in Python workers of the built command: docs/python.md.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { runCli } from "../helpers/cli.js";
import { type HookReady, hookFile, sawHook } from "../helpers/hook.js";
import { type LaunchSite, openSite } from "../helpers/launch.js";
import { signalProcess, waitFor } from "../helpers/processes.js";
import { sideBySide } from "../helpers/this-test.js";

beforeEach(needPython);
sideBySide();

const FIXTURES = fileURLToPath(new URL("../fixtures/hook", import.meta.url));
const fixture = (name: string) => join(FIXTURES, name);
const HOOK = fileURLToPath(new URL("../../dist/python-hook", import.meta.url));

/** What tells.py prints. */
interface Told {
	readonly pid: number;
	readonly hook: string | null;
	readonly files: readonly string[] | null;
	readonly ready: HookReady | null;
	readonly path: readonly string[];
	readonly own: string | null;
	readonly has_fcntl: boolean;
}

it.concurrent("tells the stacks of a worker at a signal that its script does not use", async () => {
	const site = openSite();
	const launch = site.launch([fixture("blocks.py"), site.release], {
		env: { PYTHON_EXEC: PYTHON },
	});
	const { ready, hook } = await sawHook(site);
	expect(ready).toEqual({
		version: 1,
		kind: "python",
		pid: expect.any(Number),
		signal: expect.any(Number),
		torch_socket: null,
		learn_signal: expect.any(Number),
	});
	const { pid, signal } = ready;
	expect(readFileSync(join(hook, "owner"), "utf8")).toMatch(
		new RegExp(`^${pid} \\d+\n$`),
	);
	const status = readFileSync(`/proc/${pid}/status`, "utf8");
	const caught = BigInt(`0x${/^SigCgt:\s*(\w+)$/m.exec(status)?.[1]}`);
	expect((caught >> BigInt(Number(signal) - 1)) & 1n).toBe(1n);
	await waitFor("the stack of the function in which it waits", () => {
		signalProcess(pid, Number(signal));
		return /blocks\.py", line \d+ in waits/.test(hookFile(hook, "stack.txt"));
	});
	signalProcess(pid, "SIGUSR1");
	await launch.saw("stdout", "asked by SIGUSR1");
	writeFileSync(site.release, "");
	const { exitCode, stdout } = await launch.ended;
	expect(exitCode).toBe(0);
	expect(stdout).toContain("done");
});

describe("a sitecustomize of the user's", { concurrent: true }, () => {
	it("is run as Python would have run it, and the hook is not on its path", async () => {
		const site = openSite();
		const own = join(site.path, "own");
		mkdirSync(own);
		writeFileSync(join(own, "sitecustomize.py"), "import sys\n");
		const env = { PYTHONPATH: own };
		const [told] = await tell([fixture("tells.py")], site, env);
		const [bare] = await tell(["--no-hook", fixture("tells.py")], site, env);
		expect(told?.own).toBe(join(own, "sitecustomize.py"));
		expect(told?.path).not.toContain(HOOK);
		expect([told?.own, told?.path]).toEqual([bare?.own, bare?.path]);
		expect(told?.ready?.pid).toBe(told?.pid);
		// It takes long to load where it is a library of its own.
		expect(told?.has_fcntl).toBe(false);
	});
});

it.concurrent("changes neither output nor exit code of ends.py and tells-nothing.py", async () => {
	const scripts = ["ends.py", "tells-nothing.py"].map(fixture);
	await expectSame(openSite(), scripts);
});

it.concurrent("does nothing under python -S, -I and -E", async () => {
	const lines = ["-S", "-I", "-E"].map(
		(flag) => `${PYTHON} ${flag} ${fixture("tells.py")}`,
	);
	const told = await tell(["sh", "-c", lines.join(" && ")]);
	const nothing = expect.objectContaining({ files: [], ready: null });
	expect(told).toEqual([nothing, nothing, nothing]);
});

it.concurrent("is owned by the first process that lives, also below a shell", async () => {
	const script = `${PYTHON} ${fixture("tells.py")} && ${PYTHON} ${fixture("children.py")}`;
	const [first, spawned, started, parent] = await tell(["sh", "-c", script]);
	expect(first?.ready?.pid).toBe(first?.pid);
	expect(parent?.ready?.pid).toBe(parent?.pid);
	expect(spawned?.ready?.pid).toBe(parent?.pid);
	expect(started?.ready?.pid).toBe(parent?.pid);
	expect(parent?.files).toEqual(["owner", "ready.json", "stack.txt"]);
});

it.concurrent("is shown by a dry run, first on PYTHONPATH", async () => {
	const { path: cwd } = openSite();
	const dryRun = async (...words: string[]) => {
		const args = ["--dry-run", "--output", "json", ...words];
		const { stdout } = await runCli(args, {
			cwd,
			env: { PYTHONPATH: "/mine" },
		});
		return JSON.parse(stdout).workers[0].environment;
	};
	const library = join(HOOK, "../python");
	expect(await dryRun(fixture("tells.py"))).toMatchObject({
		PYTHONPATH: `${HOOK}:/mine:${library}`,
		ELASTIC_RUN_HOOK: expect.any(String),
	});
	expect(await dryRun("--no-python-path", fixture("tells.py"))).toMatchObject({
		PYTHONPATH: `${HOOK}:/mine`,
	});
	expect(await dryRun("sh", "-c", "true")).toMatchObject({
		PYTHONPATH: `${HOOK}:/mine`,
	});
});

async function tell(
	words: readonly string[],
	site: LaunchSite = openSite(),
	env: Readonly<Record<string, string>> = {},
): Promise<readonly Told[]> {
	const lines = await run(words, site, env);
	return lines.map((line): Told => JSON.parse(line));
}

/** The lines that a worker prints. */
async function run(
	words: readonly string[],
	site: LaunchSite = openSite(),
	env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
	const launch = site.launch(
		["--max-restarts", "0", "--redirects", "0", "--tee", "0", ...words],
		{ env: { PYTHON_EXEC: PYTHON, ...env } },
	);
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	return stdout.trim().split("\n");
}

/** Runs scripts with the hook and without, and compares all that can be seen of them. */
async function expectSame(
	site: LaunchSite,
	scripts: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Promise<void> {
	const command = scripts
		.map((script) => `${PYTHON} ${script} 2>&1; echo "exit code $?"`)
		.join("\n");
	const lines = await run(["sh", "-c", command], site, env);
	const bare = await run(["--no-hook", "sh", "-c", command], site, env);
	expect(lines).toEqual(bare);
	expect(bare.filter((line) => /^exit code \d+$/.test(line))).toHaveLength(
		scripts.length,
	);
	expect(scripts.every((script) => existsSync(script))).toBe(true);
}
