import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";

const SOURCES = resolve(import.meta.dirname, "../../../src");
const IMPORT = /(?:from|import|require\()\s*\(?["']([^"']+)["']/g;

it.each(["runtime", "register"])("%s needs no package", (entry) => {
	const files = new Set<string>();
	const foreign = new Set<string>();
	const visit = (file: string) => {
		if (files.has(file)) return;
		files.add(file);
		for (const [, name = ""] of readFileSync(file, "utf8").matchAll(IMPORT)) {
			if (name.startsWith(".")) visit(sourceOf(dirname(file), name));
			else if (!name.startsWith("node:")) foreign.add(`${file}: ${name}`);
		}
	};
	visit(join(SOURCES, "runtime", `${entry}.ts`));

	expect([...foreign]).toEqual([]);
	expect(files.size).toBeGreaterThan(3);
	for (const file of files) {
		expect(relative(SOURCES, file)).toMatch(
			/^(runtime\/|channel\/|base\/(clock|errors|name|process-stat)\.ts)/,
		);
		const text = readFileSync(file, "utf8");
		// Both would keep the library from being compiled to CommonJS.
		expect(text, file).not.toMatch(/import\.meta|^await /m);
	}
});

function sourceOf(directory: string, name: string): string {
	const file = join(directory, name.replace(/\.js$/, ".ts"));
	expect(existsSync(file), `${file} is imported`).toBe(true);
	return file;
}
