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
	["dist/src/runtime/runtime.js", 3],
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
