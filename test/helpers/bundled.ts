import { mkdtempSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { buildSync } from "esbuild";

const DIST = join(import.meta.dirname, "../../dist");
const made = new Map<string, string>();

/**
 * A program made of a fixture in TypeScript and of what it imports of the project. Node starts it in a fifth of the
 * processor time that tsx needs. It is in dist/, which the next build removes.
 */
export function bundled(file: string): string {
	const known = made.get(file);
	if (known !== undefined) return known;
	const directory = mkdtempSync(join(DIST, ".bundled-"));
	process.once("exit", () => rmSync(directory, { recursive: true }));
	const outfile = join(directory, basename(file).replace(/\.ts$/, ".js"));
	buildSync({
		entryPoints: [file],
		bundle: true,
		platform: "node",
		format: "esm",
		packages: "external",
		logLevel: "silent",
		outfile,
	});
	made.set(file, outfile);
	return outfile;
}
