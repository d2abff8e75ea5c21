// A worker's uncaught exception, from its raise to the report, with the built command.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { type LaunchEnd, openSite } from "../helpers/launch.js";
import { sideBySide } from "../helpers/this-test.js";

beforeEach(needPython);
sideBySide();

const STUCK = `
import threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
raise ValueError("bad batch 12")
`;
const FAST = ["--exit-timeout", "500ms"];

async function runs(
	text: string,
	args: readonly string[] = [],
	{ name = "train.py", command = [name] as readonly string[] } = {},
): Promise<LaunchEnd> {
	const site = openSite();
	writeFileSync(join(site.path, name), text);
	const env = { PYTHON_EXEC: PYTHON, PYTHON };
	const options = { cwd: site.path, env };
	const all = ["--max-restarts", "0", ...args, ...command];
	return site.launch(all, options).ended;
}

/** How the failed rank is described, in each place where it is. */
function expectCause({ stderr }: LaunchEnd, words: string): void {
	expect(stderr).toContain(`RUNNING→STOPPING rank 0 failed: ${words}\n`);
	expect(stderr).toMatch(/^root cause: rank 0 on .*, round 1: /m);
	expect(stderr).toContain(`, round 1: ${words}\n`);
	expect(stderr).toContain(`: ${words}; the budget of 0 restarts is spent`);
}

describe("an uncaught exception of a Python worker", () => {
	it.concurrent("is known whatever the script does with sys.excepthook, which looks as ever", async () => {
		const end = await runs(`import os, sys, threading
same = sys.excepthook is sys.__excepthook__
same &= threading.excepthook is getattr(threading, "__excepthook__", threading.excepthook)
print("same", same, flush=True)
sys.excepthook = lambda *_: os._exit(7)
raise KeyError("lr")
`);
		expectCause(end, "KeyError: 'lr', at train.py:6");
		expect(end.stdout).toContain("same True");
		expect(end.stderr).toMatch(/^ {2}up .*, exit code 7, local rank 0/m);
	});

	it.concurrent.each([
		["SystemExit", "raise SystemExit(3)", "exit code 3"],
		["that of a forked child", forks("raise ValueError('no')"), "exit code 3"],
		[
			"that of a Python that it starts",
			`import subprocess, sys
subprocess.run([sys.executable, "-c", "raise ValueError('no')"])
sys.exit(3)`,
			"exit code 3",
		],
		[
			"one that an extension prints",
			`import ctypes, sys
ctypes.pythonapi.PyRun_SimpleString(b"raise ValueError('no')")
sys.exit(3)`,
			"exit code 3",
		],
	])("is not %s", async (_, script, words) => {
		expectCause(await runs(script), words);
	});

	it.concurrent("in another thread is harmless, but named if the worker fails later", async () => {
		const script = (code: number) => `import sys, threading, time
def load():
    raise ValueError("bad batch 12")
loader = threading.Thread(target=load, name="loader")
loader.start()
loader.join()
time.sleep(2)
sys.exit(${code})
`;
		const [fine, bad] = await Promise.all([
			runs(script(0), FAST),
			runs(script(3), FAST),
		]);
		expect(fine.exitCode).toBe(0);
		expectCause(
			bad,
			"exit code 3; before, its thread loader has ended with ValueError: bad batch 12, at train.py:3 in load",
		);
	});

	it.concurrent.each([
		["soft", ["train.py"]],
		["hard", ["sh", "-c", '"$PYTHON" train.py; true']],
	])("fails a worker that does not end, under %s by %j", async (policy, command) => {
		const args = [...FAST, "--restart-policy", policy];
		const end = await runs(STUCK, args, { command });
		expectCause(end, "ValueError: bad batch 12, at train.py:4");
		expect(end.stderr).toContain(
			"hint: it had not ended 500ms after its exception (--exit-timeout)",
		);
	});

	it.concurrent("C5 says what the exception of a worker that does not end means", async () => {
		const raise = 'raise RuntimeError("CUDA out of memory. Tried to allocate")';
		const script = STUCK.replace(/raise .*/, raise);
		const { stderr } = await runs(script, FAST);
		expect(stderr).toMatch(
			/\n {2}hint: it had not ended .*\n {4}the GPU's memory is used up: /,
		);
	});

	it.concurrent("counts as the same failure, whether the worker ended or was ended", async () => {
		const script = `import os
if os.environ["TORCHELASTIC_RESTART_COUNT"] == "1":
    import threading, time
    threading.Thread(target=time.sleep, args=(1000,)).start()
raise ValueError("bad batch %d" % os.getpid())
`;
		const args = ["--max-restarts", "9", "--restart-delay", "0", ...FAST];
		const { stderr } = await runs(script, args);
		expect(stderr).toMatch(/3 failures in a row were the same/);
		expect(
			stderr.match(
				/^ {2}round \d: rank 0 on \S+ ValueError: bad batch \d+, at train\.py:5$/gm,
			),
		).toHaveLength(3);
	});
});

it.concurrent("an uncaught error that a Node program catches is harmless, but named if the worker fails later", async () => {
	const text = (code: number) => `process.on("uncaughtException", () => {
	setTimeout(() => process.exit(${code}), 2000);
});
throw new Error("bad batch 12");
`;
	const options = { name: "train.cjs" };
	const [fine, bad] = await Promise.all([
		runs(text(0), FAST, options),
		runs(text(4), FAST, options),
	]);
	expect(fine.exitCode).toBe(0);
	expectCause(
		bad,
		"exit code 4; before, its program has caught Error: bad batch 12, at train.cjs:4",
	);
});

function forks(statement: string): string {
	return `import os, sys
child = os.fork()
if child == 0:
    ${statement}
os.waitpid(child, 0)
sys.exit(3)`;
}
