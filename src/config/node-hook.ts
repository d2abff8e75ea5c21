import { packageFile } from "../base/package-files.js";

/** The file that Node loads before a script: the launcher's hook for Node. */
export function nodeHook(): string {
	return packageFile("dist/cjs/runtime/hook.js");
}
