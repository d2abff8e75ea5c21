import { execFile } from "node:child_process";

const TIMEOUT_MS = 5_000;
/** Prints the version of a Python that can wait for processes by descriptors. */
const QUESTION =
	"import os, platform; os.close(os.pidfd_open(os.getpid())); print(platform.python_version())";

/** The version of the Python that would run scripts, if it can fork workers; undefined if it cannot, or there is none. */
export function probePython(
	env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
	const { PATH, HOME, PYTHON_EXEC } = env;
	return new Promise((resolve) => {
		execFile(
			PYTHON_EXEC || "python3",
			["-S", "-c", QUESTION],
			{ env: { PATH, HOME }, timeout: TIMEOUT_MS },
			(error, stdout) => resolve(error === null ? stdout.trim() : undefined),
		);
	});
}
