import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import type { Mutant } from "./mutant.js";

/** The root of the project: its files are read, and never written. */
export const PROJECT = join(import.meta.dirname, "../../..");

/** Makes one file of what stands in `entry` and of all that it imports of the project, as if the mutant's guard were gone. */
export async function bundle(
	entry: string,
	mutant: Mutant | undefined,
	outfile: string,
): Promise<void> {
	await build({
		absWorkingDir: PROJECT,
		entryPoints: [entry],
		bundle: true,
		platform: "node",
		format: "esm",
		packages: "external",
		logLevel: "silent",
		outfile,
		plugins: [sources(mutant)],
	});
}

/** The project's sources: as they stand, the mutant's file without its guard, each with the address that it has there. */
function sources(mutant: Mutant | undefined): Plugin {
	const mutated = mutant && join(PROJECT, mutant.file);
	return {
		name: "sources without a guard",
		setup({ onLoad }) {
			onLoad({ filter: /\.ts$/ }, ({ path }) => {
				const source = readFileSync(path, "utf8");
				const contents =
					mutant && path === mutated ? withoutGuard(source, mutant) : source;
				return { contents: atHome(contents, path), loader: "ts" };
			});
		},
	};
}

function withoutGuard(source: string, mutant: Mutant): string {
	const [before, after, ...more] = source.split(mutant.guard);
	if (before === undefined || after === undefined || more.length > 0) {
		throw new Error(`"${mutant.guard}" does not stand once in ${mutant.file}`);
	}
	return before + mutant.without + after;
}

function atHome(source: string, path: string): string {
	return source
		.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
		.replaceAll("import.meta.dirname", JSON.stringify(dirname(path)));
}
