import { mkdtempSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { buildSync } from "esbuild";
import { NODE_BUNDLE, PROJECT } from "./node-bundle.js";

const made = new Map<string, string>();

/**
 * A program made of a fixture in TypeScript and of what it imports of the project. Node starts it in a fifth of the
 * processor time that tsx needs. It is in dist/, which the next build removes.
 */
export function bundled(file: string): string {
	const known = made.get(file);
	if (known !== undefined) return known;
	const directory = mkdtempSync(join(PROJECT, "dist/.bundled-"));
	process.once("exit", () => rmSync(directory, { recursive: true }));
	const outfile = join(directory, basename(file).replace(/\.ts$/, ".js"));
	buildSync({ ...NODE_BUNDLE, entryPoints: [file], outfile });
	made.set(file, outfile);
	return outfile;
}
