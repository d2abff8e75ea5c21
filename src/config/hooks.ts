import { basename, extname } from "node:path";
import { packageFile, packageVersion } from "../base/package-files.js";
import { OPTIONS } from "./options.js";
import type { SettingReader } from "./settings.js";

/** python, python3, python3.13t */
const INTERPRETER = /^python[\d.]*t?$/;

/** The directory that holds `elastic_run.py`, the Python runtime library, and nothing else. */
export function pythonLibrary(): string {
	return packageFile("dist/python");
}

/** The directory that holds the `sitecustomize` of the launcher's hook. */
export function pythonHook(): string {
	return packageFile("dist/python-hook");
}

/** The same library as a package for pip. */
export function pythonWheel(): string {
	const name = `elastic_run-${packageVersion()}-py3-none-any.whl`;
	return packageFile(`dist/python-wheel/${name}`);
}

const NODE_SCRIPTS = [".js", ".mjs", ".cjs", ".ts"];

/** What the settings and the command put on the PYTHONPATH of workers. */
export function pythonPaths(reader: SettingReader, script = "") {
	const isModule = reader.value(OPTIONS.module);
	const hasLibrary = !reader.value(OPTIONS.noPythonPath);
	const hasHook = !reader.value(OPTIONS.noHook);
	const isMaybe = isModule || mayStartPython(script);
	return {
		pythonPath:
			hasLibrary && (isModule || isPython(script))
				? pythonLibrary()
				: undefined,
		// Also for commands that are not Python by their name.
		pythonHook: hasHook && isMaybe ? pythonHook() : undefined,
	};
}

/** Whether a script or command, as typed, may be Python or start it, as a shell script or `uv run` does. */
export function mayStartPython(script: string): boolean {
	return !NODE_SCRIPTS.includes(extname(script)) && basename(script) !== "node";
}

/** Whether a script or command, as typed, is Python: by its file ending or the interpreter's name. */
export function isPython(script: string): boolean {
	return extname(script) === ".py" || INTERPRETER.test(basename(script));
}

/** The file that Node loads before a script: the launcher's hook for Node. */
export function nodeHook(): string {
	return packageFile("dist/cjs/runtime/hook.js");
}
