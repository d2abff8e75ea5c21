import type { ChildProcess } from "node:child_process";
import { Duplex } from "node:stream";

/** The pipe that a child has as this descriptor: Node's types know the first five only. Throws if there is none. */
export function stdioPipe(child: ChildProcess, descriptor: number): Duplex {
	const streams: readonly unknown[] | undefined = child.stdio;
	const pipe = streams?.[descriptor];
	if (pipe instanceof Duplex) return pipe;
	// At the limit of open files Node makes no streams. Its error event, which comes later, would end the launcher.
	child.once("error", () => {});
	throw new Error("this launcher has too many open files");
}
