import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sourceFiles } from "../../helpers/import-graph.js";
import { PROJECT } from "../../helpers/node-bundle.js";
import type { Mutant } from "./index.js";

/** Where a guard stands. */
interface FoundGuard {
	/** Relative to the project's root. */
	readonly file: string;
	/** The file's text without the guard. */
	readonly mutated: string;
}

let sources: readonly (readonly [file: string, text: string])[] | undefined;

/**
 * Finds a guard by its tokens in all of `src`, so that neither a moved file nor another layout loses it.
 * @throws Error if it stands there more than once, or not at all
 */
export function findGuard({ guard, without, file }: Mutant): FoundGuard {
	sources ??= sourceFiles("src").map((path) => [
		path,
		readFileSync(join(PROJECT, path), "utf8"),
	]);
	const pattern = patternOf(guard);
	const all = sources.flatMap(([path, text]) =>
		[...text.matchAll(pattern)].map(({ 0: { length }, index }) => ({
			file: path,
			mutated: text.slice(0, index) + without + text.slice(index + length),
		})),
	);
	const meant = all.length > 1 ? all.filter((one) => one.file === file) : all;
	const [found, ...more] = meant;
	if (found === undefined || more.length > 0) {
		const places = all.map((one) => one.file).join(", ") || "nowhere";
		throw new Error(`"${guard}" must stand once; it stands in: ${places}`);
	}
	return found;
}

/** Any space may stand between two tokens, and the formatter may add a comma before a closing bracket. */
function patternOf(guard: string): RegExp {
	const tokens = guard.replaceAll(/,(?=\s*[)\]}])/g, "").match(/\w+|[^\w\s]/g);
	const parts = (tokens ?? []).map((token) => {
		if (/\w/.test(token)) return `\\b${token}\\b`;
		return /[)\]}]/.test(token) ? `,?\\s*\\${token}` : `\\${token}`;
	});
	return new RegExp(parts.join("\\s*"), "g");
}
