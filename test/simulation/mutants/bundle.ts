import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { NODE_BUNDLE, PROJECT } from "../../helpers/node-bundle.js";
import { findGuard } from "./find-guard.js";
import type { Mutant } from "./index.js";

/** Makes one file of what stands in `entry` and of all that it imports of the project, as if the mutant's guard were gone. */
export async function bundle(
	entry: string,
	mutant: Mutant | undefined,
	outfile: string,
): Promise<void> {
	await build({
		...NODE_BUNDLE,
		entryPoints: [entry],
		outfile,
		plugins: [sources(mutant)],
	});
}

/** The project's sources: as they stand, the mutant's file without its guard, each with the address that it has there. */
function sources(mutant: Mutant | undefined): Plugin {
	const found = mutant && findGuard(mutant);
	const mutatedPath = found && join(PROJECT, found.file);
	return {
		name: "sources without a guard",
		setup({ onLoad }) {
			onLoad({ filter: /\.ts$/ }, ({ path }) => {
				const contents =
					found && path === mutatedPath
						? found.mutated
						: readFileSync(path, "utf8");
				return { contents: atHome(contents, path), loader: "ts" };
			});
		},
	};
}

function atHome(source: string, path: string): string {
	return source
		.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
		.replaceAll("import.meta.dirname", JSON.stringify(dirname(path)));
}
