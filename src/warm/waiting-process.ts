import {
	type ChildProcess,
	type StdioOptions,
	spawn,
} from "node:child_process";
import { Duplex } from "node:stream";
import { isLiving, readProcess } from "../base/process-stat.js";
import { killWithParent, type WorkerSpec } from "../processes/index.js";

/** A process that dies with this one, and does not keep it alive; nor does the pipe between them. */
export interface WaitingProcess {
	readonly child: ChildProcess;
	readonly pipe: Duplex;
}

/**
 * Starts it in a process group of its own.
 * @param descriptor that of the pipe, which is among `stdio`
 * @throws if this machine lacks what a process needs
 */
export function spawnWaiting(
	{ file, args, cwd, env }: Pick<WorkerSpec, "file" | "args" | "cwd" | "env">,
	setpriv: string,
	stdio: StdioOptions,
	descriptor: number,
): WaitingProcess {
	const child = spawn(setpriv, killWithParent(file, args), {
		cwd,
		env,
		detached: true,
		stdio,
	});
	const pipe = stdioPipe(child, descriptor);
	child.unref();
	// If the process is gone, its exit event tells.
	pipe.on("error", () => {});
	if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
	return { child, pipe };
}

/** The pipe that a child has as this descriptor: Node's types know the first five only. Throws if there is none. */
export function stdioPipe(child: ChildProcess, descriptor: number): Duplex {
	const streams: readonly unknown[] | undefined = child.stdio;
	const pipe = streams?.[descriptor];
	if (pipe instanceof Duplex) return pipe;
	// At the limit of open files Node makes no streams. Its error event, which comes later, would end the launcher.
	child.once("error", () => {});
	throw new Error("this launcher has too many open files");
}

/** What a child of `parentId` does. Gone is also one that was reaped: its number may be another's. */
export function conditionOf(
	pid: number | undefined,
	parentId = process.pid,
): "alive" | "stopped" | "gone" {
	const entry = pid === undefined ? undefined : readProcess(pid);
	if (entry?.parentId !== parentId || !isLiving(entry)) return "gone";
	return entry.state === "T" ? "stopped" : "alive";
}
