import { execFileSync } from "node:child_process";
import { delimiter, dirname } from "node:path";

/**
 * What runs once before tests that start Python: where `python3` is the wrapper of a version manager, the interpreter
 * behind it comes first on PATH. The wrapper takes several times as long to start as Python does, at each start.
 */
export default function preparePython(): void {
	const folder = folderOfPython();
	const path = (process.env.PATH ?? "").split(delimiter);
	if (folder === undefined || path.includes(folder)) return;
	process.env.PATH = [folder, ...path].join(delimiter);
}

/** Undefined where there is no Python. */
function folderOfPython(): string | undefined {
	try {
		const show = ["-c", "import sys; print(sys.executable)"];
		return dirname(execFileSync("python3", show, { encoding: "utf8" }).trim());
	} catch {
		return undefined;
	}
}
