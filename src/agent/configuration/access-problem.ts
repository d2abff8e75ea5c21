import { access, stat } from "node:fs/promises";
import { systemErrorCode } from "../../errors.js";

export type AccessProblem = "missing" | "directory" | "denied";

/** Why a file cannot be used in this mode (of `fs.constants`); undefined where it can. */
export async function accessProblem(
	path: string,
	mode: number,
): Promise<AccessProblem | undefined> {
	try {
		if ((await stat(path)).isDirectory()) return "directory";
		await access(path, mode);
		return undefined;
	} catch (error) {
		return systemErrorCode(error) === "EACCES" ? "denied" : "missing";
	}
}

/** The same in words, for a file that is to be read. */
export const FILE_PROBLEMS = {
	missing: "no such file; check the path",
	directory: "is a directory; give a file",
	denied: "permission denied; make it readable",
};
