import { access, stat } from "node:fs/promises";
import { systemErrorCode } from "./errors.js";

/** `special`: a pipe, a socket or a device. */
export type AccessProblem = "missing" | "directory" | "special" | "denied";

/** Why a file cannot be used in this mode (of `fs.constants`), or undefined if it can. */
export async function accessProblem(
	path: string,
	mode: number,
): Promise<AccessProblem | undefined> {
	try {
		const found = await stat(path);
		if (found.isDirectory()) return "directory";
		if (!found.isFile()) return "special";
		await access(path, mode);
		return undefined;
	} catch (error) {
		return systemErrorCode(error) === "EACCES" ? "denied" : "missing";
	}
}

/** Describes each problem for a file that is to be read. */
export const FILE_PROBLEMS = {
	missing: "no such file; check the path",
	directory: "is a directory; give a file",
	special: "is a pipe, a socket or a device; give a file",
	denied: "permission denied; make it readable",
};
