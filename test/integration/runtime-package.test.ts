import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../helpers/import-graph.js";

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"|\brequire\("([^"]+)"\)/g;

/** A built file and all that it loads; the names of what is not a file of it. */
function closure(entry: string) {
	const files = new Set([entry]);
	const others = new Set<string>();
	for (const file of files) {
		for (const [, esm, cjs] of readFileSync(file, "utf8").matchAll(IMPORT)) {
			const name = esm ?? cjs ?? "";
			if (name.startsWith(".")) files.add(resolve(file, "..", name));
			else others.add(name);
		}
	}
	return { files: files.size, others: [...others] };
}

it.each([
	["dist/src/runtime/runtime.js", 4],
	["dist/src/runtime/checkpoint.js", 3],
	["dist/src/runtime/register.js", 3],
	["dist/cjs/runtime/runtime.js", 1],
	["dist/cjs/runtime/checkpoint.js", 1],
	["dist/cjs/runtime/register.js", 1],
])("%s loads at most %d files, and nothing but Node's own modules", (entry, most) => {
	const { files, others } = closure(join(ROOT, entry));
	expect(files).toBeLessThanOrEqual(most);
	expect(others).not.toEqual([]);
	expect(others.filter((name) => !isBuiltin(name))).toEqual([]);
});

const NAMES =
	"{ WorkerState, WorldChangeEvent, getWorkerInfo, getWorkerEvent, waitForWork }";
const TELL = `
	const info = getWorkerInfo();
	const { workerState, kind } = getWorkerEvent();
	const words = [WorkerState.HEALTHY, WorkerState.PAUSED, WorldChangeEvent.SCALE_UP, WorldChangeEvent.SCALE_DOWN];
	waitForWork({ timeoutMs: 0 }).catch(({ code }) =>
		console.log(JSON.stringify([info.rank, kind, workerState === WorkerState.HEALTHY, words, code])));`;

it.each([
	["elastic-run/runtime, ESM", `import ${NAMES} from "elastic-run/runtime";`],
	["elastic-run, ESM", `import ${NAMES} from "elastic-run";`],
	[
		"elastic-run/runtime, CommonJS",
		`const ${NAMES} = require("elastic-run/runtime");`,
	],
])("%s: states and changes are values, and the calls are there", (name, load) => {
	const type = name.endsWith("ESM") ? "module" : "commonjs";
	const args = [`--input-type=${type}`, "--eval", `${load}${TELL}`];
	const env = { PATH: process.env.PATH, RANK: "3", WORLD_SIZE: "4" };
	const told = execFileSync(process.execPath, args, { cwd: ROOT, env });
	expect(JSON.parse(String(told))).toEqual([
		...[3, "WORK", true],
		["HEALTHY", "PAUSED", "SCALE_UP", "SCALE_DOWN"],
		"NOT_LAUNCHED",
	]);
});
