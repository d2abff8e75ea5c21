import { basename, extname } from "node:path";
import { packageFile } from "../../package-files.js";

/** python, python3, python3.13t */
const INTERPRETER = /^python[\d.]*t?$/;

/** The directory of `elastic_run.py`, the runtime library for Python, and of nothing else. */
export function pythonLibrary(): string {
	return packageFile("dist/python");
}

/** Whether a script or command, as it was typed, is Python: by its ending, or as the interpreter's own name. */
export function isPython(script: string): boolean {
	return extname(script) === ".py" || INTERPRETER.test(basename(script));
}
