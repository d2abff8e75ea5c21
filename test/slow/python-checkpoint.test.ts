// The checkpoints of the library for Python: each promise that those of JavaScript keep, and that both read one another's.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import type { Goodput } from "../../src/status/goodput/describe-goodput.js";
import { example } from "../fixtures/checkpoint-examples.js";
import { freshDirectory, open, stateAt } from "../fixtures/checkpoint-open.js";
import {
	LIBRARY,
	needPython,
	PYTHON,
} from "../fixtures/python/start-python.js";
import { ROOT } from "../helpers/import-graph.js";
import { openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";

beforeEach(needPython);

const env = {
	PATH: process.env.PATH,
	PYTHONPATH: LIBRARY,
	PYTHONDONTWRITEBYTECODE: "1",
};

const TRAINER = join(ROOT, "test/fixtures/python/checkpoint_trainer.py");

function train(options: object) {
	const args = [TRAINER, JSON.stringify(options)];
	const ended = spawnSync(PYTHON, args, { env, encoding: "utf8" });
	const { stdout, stderr, status, signal } = ended;
	return { end: signal ?? status, stdout, stderr };
}

/** Runs a script with `checkpoint`, and `at(round)`, which opens `directory` in that round of instance 1. */
function python(directory: string, script: string) {
	const head = `
import array, os, sys, json
from types import SimpleNamespace
from elastic_run import checkpoint
directory = sys.argv[1]
def at(round, **options):
    return checkpoint.open(directory, token=SimpleNamespace(instance=1, round=round), **options)
def refusal(act):
    try:
        act()
    except checkpoint.CheckpointError as error:
        return str(error)
`;
	const args = ["-W", "always", "-c", head + script, directory];
	const { stdout, stderr } = spawnSync(PYTHON, args, { env, encoding: "utf8" });
	return { stdout: stdout.trim(), stderr };
}

const checkpointsIn = (directory: string) =>
	readdirSync(directory).filter((name) => name.endsWith(".ckpt"));

it("P5 killed at any system call of a save, a trainer begins at the old checkpoint or at the new one, and nothing is left over", {
	timeout: 240_000,
}, () => {
	const options = { save_every: 1, round: 1 };
	const counting = { ...options, directory: freshDirectory(), last_step: 4 };
	const { calls } = JSON.parse(train({ ...counting, count: true }).stdout);
	expect(calls).toBeGreaterThan(12);
	const loaded: string[] = [];
	for (let call = 1; call <= calls; call += 1) {
		const directory = freshDirectory();
		const here = { ...options, directory };
		const killed = train({ ...here, last_step: 4, kill_at_call: call });
		expect(killed, `call ${call}`).toMatchObject({
			end: "SIGKILL",
			stderr: "",
		});
		loaded.push(python(directory, "print(at(1).load_latest().step)").stdout);
		const resumed = train({ ...here, round: 2, last_step: 6 });
		expect(resumed, `call ${call}`).toMatchObject({ end: 0, stderr: "" });
		expect(checkpointsIn(directory)).toHaveLength(2);
		const rest = readdirSync(directory).filter((n) => n.endsWith(".tmp"));
		expect(rest).toEqual([]);
	}
	// Before the rename it is step 3, after it step 4.
	expect(new Set(loaded)).toEqual(new Set(["3", "4"]));
	expect(loaded).toEqual(loaded.toSorted());
});

it("P6 twenty kills at random: the result is that of an undisturbed run, bit for bit", {
	timeout: 120_000,
}, () => {
	const options = { save_every: 3, last_step: 200 };
	const undisturbed = train({
		...options,
		directory: freshDirectory(),
		round: 1,
	});
	const directory = freshDirectory();
	const seed = Math.floor(Math.random() * 2 ** 32);
	let random = seed;
	for (let round = 1; round <= 20; round += 1) {
		random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
		const kill_at_event = 1 + Math.floor((random / 2 ** 32) * 10);
		const killed = train({ ...options, directory, round, kill_at_event });
		expect(killed, `seed ${seed}`).toMatchObject({
			end: "SIGKILL",
			stderr: "",
		});
	}
	const finished = train({ ...options, directory, round: 21 });
	expect(finished, `seed ${seed}`).toEqual(undisturbed);
	expect(JSON.parse(finished.stdout)).toMatchObject({ step: 200 });
});

it("P7 a worker that was cut off is refused, and what it saved meanwhile is set aside", () => {
	const { stdout, stderr } = python(
		freshDirectory(),
		`
old = at(1)
old.save(1, 1)
new, other = at(2), at(2)
print(new.load_latest().step)
# In between, as if the claim were not seen yet: the old round's file appears.
with open(f"{directory}/checkpoint-{1:016}-{1:010}-{9:016}.ckpt", "wb") as late, open(new.load_latest().path, "rb") as file:
    late.write(file.read())
print(other.load_latest().step)
print(refusal(lambda: old.save(10, 1)))
new.save(2, 2)
print(at(3).load_latest().step, refusal(lambda: at(3).save(2, 2) and at(3).save(1, 1)))
`,
	);
	expect(stderr).toBe("");
	const [first, second, refused, third] = stdout.split("\n");
	expect([first, second]).toEqual(["1", "1"]);
	expect(refused).toMatch(/A newer round has taken over.*Let this worker end/);
	expect(third).toMatch(/^2 Step 1 was not saved.*Steps must rise/);
});

it("a damaged checkpoint is skipped with a warning, at whichever byte; with none left the load says so", () => {
	const directory = freshDirectory();
	python(directory, "at(1).save(1, [1]); at(1).save(2, [2])");
	const newest = join(directory, checkpointsIn(directory).sort().at(-1) ?? "");
	const whole = readFileSync(newest);
	const load = "print(at(2).load_latest(claim=False).step)";
	for (const at of [0, 9, 40, whole.length - 40, whole.length - 1]) {
		const damaged = Buffer.from(whole);
		damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
		writeFileSync(newest, damaged);
		const { stdout, stderr } = python(directory, load);
		expect([stdout, at]).toEqual(["1", at]);
		expect(stderr).toMatch(/cannot be used: .*Going back to/);
	}
	for (const name of checkpointsIn(directory)) {
		writeFileSync(join(directory, name), whole.subarray(0, -1));
	}
	expect(python(directory, load).stderr).toMatch(
		/None of the checkpoints in .*it has \d+ bytes of \d+/,
	);
});

it("each language reads what the other saved", () => {
	const directory = freshDirectory();
	const state = {
		...stateAt(3),
		generator: { seed: 2n ** 70n },
		more: [Number.NaN, -0, 1.5, null, { $: 1 }, Number.POSITIVE_INFINITY],
	};
	open(directory, 1).checkpoints.save(state);
	const { stdout, stderr } = python(
		directory,
		`
state = at(2).load_latest().state
print(state["step"], state["parameters"]["weights"][:2], state["generator"], state["more"])
at(2).save(4, {**state, "pair": (1, b"xy")})`,
	);
	expect(stderr).toBe("");
	expect(stdout).toBe(
		`3 array('f', [3.0, 3.0]) {'seed': ${2n ** 70n}} [nan, -0.0, 1.5, None, {'$': 1}, inf]`,
	);
	const back = open(directory, 3).checkpoints.loadLatest();
	expect(back).toMatchObject({
		step: 4,
		state: { ...state, pair: [1, new Uint8Array(Buffer.from("xy"))] },
	});
});

it("should_save follows Young and Daly, for one worker and for many, and is bounded by max_steps", () => {
	const { stdout } = python(
		freshDirectory(),
		`
from elastic_run.checkpoint import young_daly_seconds, steps_between_checkpoints
from elastic_run.checkpoint._cadence import Cadence
w = young_daly_seconds(10_800, 30)
print(f"{w:.2f}", steps_between_checkpoints(w, 2), f"{young_daly_seconds(10_800, 30, 4):.2f}")
def due(most, mean_time):
    cadence, now, steps = Cadence(most), 0.0, []
    for step in range(1, 1000):
        now += 2
        if cadence.is_due(step, now, mean_time):
            now += 30
            cadence.saved(step, 30)
            steps.append(step)
    return steps[:3]
print(due(float("inf"), 10_800), due(float("inf"), 10_800 / 4), due(50, 10_800))
`,
	);
	expect(stdout).toBe(
		"804.98 402 402.49\n[1, 403, 805] [1, 202, 403] [1, 51, 101]",
	);
});

it("on a full disk a save fails by name and the old one loads", (context) => {
	const directory = freshDirectory();
	try {
		const flags = ["-t", "tmpfs", "-o", "size=256k", "tmpfs"];
		execFileSync("mount", [...flags, directory], { stdio: "ignore" });
	} catch {
		context.skip("a small file system cannot be mounted here");
	}
	onTestFinished(() => {
		execFileSync("umount", [directory]);
	});
	const { stdout, stderr } = python(
		directory,
		`
at(1).save(1, 1)
print(refusal(lambda: at(1).save(2, bytes(800_000))))
print(at(2).load_latest().step, [name for name in os.listdir(directory) if name.endswith("tmp")])
at(3).save(3, 1)`,
	);
	expect(stdout).toMatch(
		/No checkpoint was saved in .*ENOSPC.*The disk is full.*untouched.\n1 \[\]$/,
	);
	expect(stderr).toContain("memory (tmpfs)");
});

it("a directory that four ranks write is one checkpoint when all have, and none where a file is not what was written", () => {
	const directory = freshDirectory();
	const { stdout, stderr } = python(
		directory,
		`
import threading
def write(rank, step, late=0):
    with at(1, rank=rank, workers=4).directory(step, timeout=late or 60) as path:
        os.makedirs(f"{path}/shards", exist_ok=True)
        with open(f"{path}/shards/{rank}", "w") as file:
            file.write(f"{step} {rank}")
def save(step):
    threads = [threading.Thread(target=write, args=(rank, step)) for rank in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
save(1)
save(2)
print(refusal(lambda: write(0, 3, late=0.1)))
print(refusal(lambda: checkpoint.open(directory, workers=2).directory(3).__enter__()))
found = at(1).load_latest()
print(found.step, sorted(os.listdir(found.path)), sorted(os.listdir(f"{found.path}/shards")))
print(sorted(json.load(open(f"{found.path}/manifest.json"))["files"]))
with open(f"{found.path}/shards/3", "w") as file:
    file.write("2 4")
print(at(1).load_latest(claim=False).step)
os.unlink(f"{found.path}/shards/3")
print(at(1).load_latest(claim=False).step)
at(2).save(4, 1)
at(2).save(5, 1)
print([name[-4:] for name in sorted(os.listdir(directory))])
`,
	);
	expect(stdout.split("\n")).toEqual([
		expect.stringMatching(/rank 1, 2, 3 did not finish its part in time/),
		expect.stringMatching(/Give all of them the same token/),
		"2 ['manifest.json', 'shards'] ['0', '1', '2', '3']",
		"['shards/0', 'shards/1', 'shards/2', 'shards/3']",
		"1",
		"1",
		"['ckpt', 'ckpt', 'json', 'json']",
	]);
	expect(stderr).toMatch(/shards\/3 does not match its digest.*Going back/);
	expect(stderr).toMatch(/shards\/3 is missing/);
});

it.for([
	["Python", ["checkpoint_worker.py"], 3],
	[
		"JavaScript",
		["train.js", "--steps", "30", "--checkpoint-every", "10"],
		undefined,
	],
] as const)("the ledger knows of the saves of %s's library, of which the script says nothing", async ([
	language,
	[script, ...args],
	saves,
]) => {
	const site = openSite();
	const file =
		language === "Python"
			? join(ROOT, "test/fixtures/python", script)
			: example(script);
	const flags = ["--run-id", "saves"];
	const ran = await site.launch([...flags, file, ...args], {
		env: { PYTHON_EXEC: PYTHON },
	}).ended;
	expect(ran.exitCode, ran.stderr).toBe(0);
	const asked = ["goodput", "saves", "--output", "json"];
	const { stdout } = await site.launch(asked).ended;
	const { ledger, checkpoints }: Goodput = JSON.parse(stdout);
	expect(checkpoints.missing).toBe("no failure was seen");
	expect(checkpoints.saves).toBeGreaterThanOrEqual(saves ?? 3);
	expect(ledger.saving).toBeGreaterThan(0);
});

it("at a notice should_save says yes once, and after the save the worker may be ended", async () => {
	const site = openSite();
	const file = join(ROOT, "test/fixtures/python/checkpoint_worker.py");
	const flags = ["--run-id", "goes", "--notices", "file:notice"];
	const launch = site.launch([...flags, file, "notice"], {
		env: { PYTHON_EXEC: PYTHON },
	});
	await waitFor("the first save", () =>
		launch.output.stdout.includes("saved "),
	);
	writeFileSync(join(site.path, "notice"), "");
	const { stdout, stderr } = await launch.ended;
	expect(stdout.match(/saves/g), stderr).toHaveLength(2);
	expect(stderr).toContain("all workers are ready to end");
});
