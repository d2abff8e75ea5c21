import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { killWithParent, type WorkerSpec } from "../processes/index.js";
import type { ToImport } from "./learned-modules.js";
import type { LeftOut } from "./left-out.js";
import { stdioPipe } from "./stdio-pipe.js";
import { helperEnvironment, PLACE } from "./warm-environment.js";
import { decodeNews, type WarmNews, type WarmOrder } from "./warm-messages.js";

const LONGEST_LINE = 1 << 20;

/** The socket between the launcher and a helper. */
export class WarmControl {
	private received = "";

	/** @param onNews called with undefined for what no helper says */
	constructor(
		private readonly socket: Duplex,
		private readonly onNews: (news: WarmNews | undefined) => void,
	) {
		// If the helper is gone, its exit event tells.
		socket.on("error", () => {});
		socket.setEncoding("utf8");
		socket.on("data", (text: string) => this.read(text));
		// It keeps no launcher alive.
		if ("unref" in socket && typeof socket.unref === "function") socket.unref();
	}

	send(order: WarmOrder): void {
		this.socket.write(`${JSON.stringify(order)}\n`);
	}

	/** Tells the helper what to import, and in which environment it was started. */
	prepare(
		{ env: workers }: WorkerSpec,
		{ modules, users = [], environments = [] }: ToImport,
		{ leaveOut, sets }: LeftOut,
	): void {
		const env = helperEnvironment(workers, process.pid);
		const place = Object.keys(workers).filter((name) => PLACE.has(name));
		const what = { modules, users, environments, leaveOut, sets };
		this.send({ kind: "prepare", env, place, ...what });
	}

	private read(text: string): void {
		const lines = (this.received + text).split("\n");
		this.received = lines.pop() ?? "";
		for (const line of lines) this.onNews(decodeNews(line));
		if (this.received.length > LONGEST_LINE) this.onNews(undefined);
	}
}

/** Starts a helper for workers like this one; throws if the launcher lacks a descriptor. It has the launcher's own streams too, for workers that write to them. */
export function spawnHelper(
	{ file, args, cwd, env }: WorkerSpec,
	setpriv: string,
): { readonly child: ChildProcess; readonly socket: Duplex } {
	const child = spawn(setpriv, killWithParent(file, args), {
		cwd,
		env: helperEnvironment(env, process.pid),
		detached: true,
		stdio: ["ignore", "ignore", "ignore", "pipe", 0, 1, 2],
	});
	return { child, socket: stdioPipe(child, 3) };
}
