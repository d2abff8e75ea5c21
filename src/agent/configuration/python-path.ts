import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";

/** python, python3, python3.13t */
const INTERPRETER = /^python[\d.]*t?$/;

/** The directory of `elastic_run.py`, the runtime library for Python, and of nothing else. */
export function pythonLibrary(): string {
	const manifest = createRequire(import.meta.url).resolve(
		"elastic-run/package.json",
	);
	return join(dirname(manifest), "dist", "python");
}

/** Whether a script or command, as it was typed, is Python: by its ending, or as the interpreter's own name. */
export function isPython(script: string): boolean {
	return extname(script) === ".py" || INTERPRETER.test(basename(script));
}
