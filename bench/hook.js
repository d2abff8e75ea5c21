import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PYTHON } from "./launchers.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PYTHON_HOOK = here("../dist/python-hook");
const NODE_HOOK = here("../dist/cjs/runtime/hook.js");
/** Has of torch what the hook looks for. */
const TORCH = here("../test/fixtures/hook/without-torch");

/** As Python does by itself: it keeps what it has compiled. */
const WITH_BYTECODE = { PYTHONDONTWRITEBYTECODE: "" };

/** So many starts, with and without the hook in turn, are one sample: the difference of the fastest two. */
const STARTS = 15;
const QUICK_STARTS = 5;
const SMOKE_STARTS = 1;

/**
 * What the launcher's hook costs a worker.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const HOOK_FIGURES = [
	{
		name: "hook-step",
		title: "what the hook does at each optimizer step",
		unit: "µs",
		rounds: 7,
		peers: [],
		goal: { atMost: 3, times: ["a bare pwrite"] },
		beside: [
			{ name: "a bare pwrite", measure: (place) => step(place, "pwrite") },
		],
		measure: (_, place) => step(place, "hook"),
	},
	startFigure("hook-start", "Python", 0.1, python),
	startFigure("hook-start-node", "Node", 0.6, (hook) =>
		timeOf(
			process.execPath,
			[...(hook ? ["--require", NODE_HOOK] : []), here("library/empty.js")],
			hook && { ELASTIC_RUN_HOOK: hook },
		),
	),
];

/** Starts Python, with the hook if it gets a directory for it. */
function python(hook) {
	return timeOf(PYTHON, ["-c", "pass"], {
		...WITH_BYTECODE,
		...(hook && { ELASTIC_RUN_HOOK: hook, PYTHONPATH: PYTHON_HOOK }),
	});
}

/** How much later a program that does nothing ends, from its spawn on. */
function startFigure(name, program, atMost, start) {
	const without = "all of it, without";
	return {
		name,
		title: `how much longer ${program} takes with the hook to start, do nothing and end`,
		unit: "ms",
		rounds: 7,
		peers: [],
		goal: { atMost, times: [without] },
		beside: [
			{
				name: without,
				measure: (place) => fastest(place, [() => start()])[0],
			},
		],
		measure: (_, place) => {
			const withHook = () => start(hookOf(place));
			const [own, bare] = fastest(place, [withHook, () => start()]);
			return Math.max(0, own - bare);
		},
	};
}

/** The least that each of some starts has taken, which take turns. */
function fastest({ isQuick, isSmoke }, starts) {
	const least = starts.map(() => Number.POSITIVE_INFINITY);
	const times = isSmoke ? SMOKE_STARTS : isQuick ? QUICK_STARTS : STARTS;
	for (let count = times; count > 0; count -= 1) {
		for (const [index, start] of starts.entries()) {
			least[index] = Math.min(least[index], start());
		}
	}
	return least;
}

/** A directory as an agent makes one for a worker. */
function hookOf({ scratch }) {
	return mkdtempSync(join(scratch, "hook-"));
}

function step(place, how) {
	const env = {
		ELASTIC_RUN_HOOK: hookOf(place),
		PYTHONPATH: [PYTHON_HOOK, TORCH].join(delimiter),
	};
	return Number(run(PYTHON, [here("hook/steps.py"), how], env));
}

function timeOf(program, args, env) {
	const start = performance.now();
	run(program, args, env);
	return performance.now() - start;
}

function run(program, args, env) {
	const { status, stdout, stderr } = spawnSync(program, args, {
		encoding: "utf8",
		env: { ...process.env, ...env },
	});
	if (status !== 0)
		throw new Error(`${program} ended with ${status}: ${stderr}`);
	return stdout;
}
