import { join } from "node:path";
import type { BuildOptions } from "esbuild";

/** The root of the project. */
export const PROJECT = join(import.meta.dirname, "../..");

/** How tests make one program for Node of several sources; it finds its packages where it is put. */
export const NODE_BUNDLE = {
	absWorkingDir: PROJECT,
	bundle: true,
	platform: "node",
	format: "esm",
	packages: "external",
	logLevel: "silent",
} as const satisfies BuildOptions;
