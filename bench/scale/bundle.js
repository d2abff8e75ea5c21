import { mkdtempSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The program of many agents, bundled as the launcher is when it is built: what
 * loads sources as they are wraps each function that it meets to keep its name.
 * @param {string} scratch
 * @returns {Promise<string>} its path
 */
export async function bundleAgents(scratch) {
	const directory = mkdtempSync(join(scratch, "agents-"));
	symlinkSync(here("../../node_modules"), join(directory, "node_modules"));
	const program = join(directory, "agents.mjs");
	await build({
		entryPoints: [here("agents.ts")],
		outfile: program,
		bundle: true,
		platform: "node",
		format: "esm",
		packages: "external",
		logLevel: "warning",
	});
	return program;
}
