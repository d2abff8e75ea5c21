import { mkdtempSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * A program, bundled as the launcher is when it is built: what loads sources as
 * they are wraps each function that it meets to keep its name.
 * @param {string} scratch
 * @param {string} source its path
 * @returns {Promise<string>} its path
 */
export async function bundle(scratch, source) {
	const directory = mkdtempSync(join(scratch, "bundle-"));
	symlinkSync(here("../../node_modules"), join(directory, "node_modules"));
	const program = join(directory, "program.mjs");
	await build({
		entryPoints: [source],
		outfile: program,
		bundle: true,
		platform: "node",
		format: "esm",
		packages: "external",
		logLevel: "warning",
	});
	return program;
}
