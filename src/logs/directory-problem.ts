import { ElasticRunError, messageOf, systemErrorCode } from "../base/errors.js";

const REASONS: Readonly<Record<string, string>> = {
	EACCES: "permission denied",
	EPERM: "permission denied",
	EROFS: "the file system is read-only",
	ENOSPC: "no space left on the device",
	EDQUOT: "the disk quota is spent",
	EFBIG: "files may not be so large: raise `ulimit -f`",
	ENOENT: "it cannot be created there",
	ENOTDIR: "it is, or leads through, something that is no directory",
	ELOOP: "a symbolic link or special file is in the way",
	EMFILE: "too many open files: raise `ulimit -n`",
};

/** Says which directory, why, and what to do. The system's message has the path of the file. */
export function explainDirectoryProblem(
	error: unknown,
	{
		logDir,
		tmpdir,
	}: { readonly logDir: string | undefined; readonly tmpdir: string },
): ElasticRunError {
	const reason = REASONS[systemErrorCode(error) ?? ""];
	const system = messageOf(error);
	const detail = reason === undefined ? system : `${reason} (${system})`;
	const where =
		logDir === undefined
			? `the temporary directory ${tmpdir}`
			: `--log-dir ${logDir}`;
	const fix =
		logDir === undefined
			? "set TMPDIR or --log-dir to a directory that can be written"
			: "choose a directory that can be written";
	return new ElasticRunError("USAGE", `${where}: ${detail}; ${fix}`, {
		cause: error,
	});
}
