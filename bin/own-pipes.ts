import { constants, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";

/**
 * Opens stdout and stderr anew where they are pipes, for this process alone. That a write
 * to a pipe does not wait is a mode of what all that have inherited it share: a worker that
 * writes to the console by itself, or another program of Node that ends, takes it away, and
 * from then on a reader that has stopped would stop the launcher, deaf to signals. Nor are
 * the others given a mode that they do not expect. Call it before either stream is used.
 *
 * Where a pipe cannot be opened anew (no /proc, another user's, no reader) it stays shared.
 */
export function ownPipes(): void {
	own("stdout", 1);
	own("stderr", 2);
}

function own(name: "stdout" | "stderr", descriptor: 1 | 2): void {
	const fd = reopen(descriptor);
	if (fd === undefined) return;
	const stream = new Socket({ fd, readable: false, writable: true });
	Object.defineProperty(process, name, { value: stream });
}

function reopen(descriptor: number): number | undefined {
	try {
		if (!fstatSync(descriptor).isFIFO()) return undefined;
		return openSync(
			`/proc/self/fd/${descriptor}`,
			constants.O_WRONLY | constants.O_NONBLOCK,
		);
	} catch {
		return undefined;
	}
}
