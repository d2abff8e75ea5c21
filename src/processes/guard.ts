import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { basename, dirname, resolve } from "node:path";
import type { Clock } from "../base/clock.js";
import { ElasticRunError, messageOf } from "../base/errors.js";
import { GUARD_SCRIPT } from "./guard-script.js";
import type { GroupRegistry } from "./running-workers.js";

/** A guard that ends more often than this per minute is not restarted. */
const MOST_ENDS_A_MINUTE = 5;
const MINUTE_MS = 60_000;
/** The most workers spawned before the guard knows of them. */
const MOST_UNSENT = 32;
/** Its name in a list of processes, unlike other shells'. */
const GUARD_NAME = "guard-of-workers";
const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

export interface GuardOptions {
	readonly clock: Clock;
	/** This agent's channel directory, `…/elastic-run-…/<name>`; its workers' directories are inside. */
	readonly channelRoot: string;
	/** Part of every worker's environment: see `agentMark`. */
	readonly mark: string;
	/** The PATH on which the guard finds grep, head, sleep and rm. */
	readonly path: string | undefined;
	/** Receives a message if workers are, or were briefly, without a guard. */
	readonly warn: (message: string) => void;
	/** Default: /bin/sh. */
	readonly shell?: string | undefined;
}

/** A guard's last word, and the connection for it, which the guard then holds. */
export interface LastWord {
	readonly socket: Socket;
	readonly word: string;
}

/** A process that outlives the agent and ends its workers. */
export interface Guard extends GroupRegistry {
	/** Undefined if none is running. */
	readonly pid: number | undefined;
	/**
	 * Gives the guard a connection and what it says there: once the agent has ended without `close`, and certainly nothing of
	 * it is left. A guard inherits a connection only as it starts, so another takes its place.
	 */
	speakThrough(line: LastWord): void;
	/**
	 * Ends the guard after a regular end of the agent, with all workers gone. The guard first ends processes that left
	 * their worker's group (SIGTERM, a second later SIGKILL). Does not wait.
	 */
	close(): void;
}

/**
 * Starts the guard. However the agent ends, even by SIGKILL, the guard then SIGKILLs the groups that were added and not
 * removed, and (on Linux) every process whose environment holds `mark`; and it removes `channelRoot`. A guard that ends
 * before the agent is restarted. Without a shell there is only a warning. The guard does not keep the agent alive.
 *
 * @throws ElasticRunError CHANNEL if `channelRoot` is not a path that may be removed.
 */
export function startGuard(options: GuardOptions): Guard {
	checkRemovable(options.channelRoot);
	return new GuardProcess(options);
}

class GuardProcess implements Guard {
	private readonly options: GuardOptions;
	private readonly groups = new Set<number>();
	private child: ChildProcess | undefined;
	private endedAt: readonly number[] = [];
	private unsent: string[] = [];
	private flushLater: NodeJS.Immediate | undefined;
	private lastWord: LastWord | undefined;
	private closed = false;

	constructor(options: GuardOptions) {
		this.options = options;
		this.start();
	}

	get pid(): number | undefined {
		return this.child?.pid;
	}

	add(groupId: number): void {
		this.groups.add(groupId);
		this.send(`+${groupId}`);
	}

	remove(groupId: number): void {
		this.groups.delete(groupId);
		this.send(`-${groupId}`);
	}

	speakThrough(line: LastWord): void {
		if (this.closed) return;
		this.flush();
		const before = this.child;
		this.lastWord = line;
		this.start();
		// Where processes are short, a guard without a voice is better than none.
		if (before !== undefined && this.child?.pid === undefined) {
			this.child = before;
		}
		// The next guard knows all groups by now.
		else before?.stdin?.end("replaced\n");
	}

	close(): void {
		this.closed = true;
		const child = this.child;
		this.send("bye");
		this.flush();
		this.child = undefined;
		child?.stdin?.end();
	}

	private start(): void {
		try {
			this.follow(spawnShell(this.options, this.lastWord));
		} catch (error) {
			this.giveUp(messageOf(error));
		}
	}

	private follow(child: ChildProcess): void {
		this.child = child;
		child.once("error", (error) => {
			if (this.child === child) this.giveUp(messageOf(error));
		});
		child.once("exit", () => {
			if (this.child === child) this.startAgain(child);
		});
		// If the guard is gone, the pipe breaks; its exit event handles that.
		child.stdin?.on("error", () => {});
		child.unref();
		// Includes what the previous guard had not received.
		this.unsent = [...this.groups].map((groupId) => `+${groupId}\n`);
		this.flush();
	}

	private giveUp(why: string): void {
		this.child = undefined;
		this.options.warn(
			`no guard could be started (${why}): if this launcher is killed with SIGKILL, its workers or their children may live on. The guard needs a POSIX shell as /bin/sh`,
		);
	}

	private startAgain(child: ChildProcess): void {
		const now = this.options.clock.now();
		const isRecent = (at: number) => now - at < MINUTE_MS;
		this.endedAt = [...this.endedAt.filter(isRecent), now];
		if (this.endedAt.length > MOST_ENDS_A_MINUTE) {
			this.giveUp(`it ended ${this.endedAt.length} times in a minute`);
			return;
		}
		this.options.warn(
			`the guard (pid ${child.pid}) ended before this launcher, and was started again`,
		);
		this.start();
	}

	/** Each write wakes the guard, which then takes the processor. So the lines of one turn are sent together at its end. */
	private send(line: string): void {
		this.unsent.push(`${line}\n`);
		if (this.unsent.length >= MOST_UNSENT) this.flush();
		else this.flushLater ??= setImmediate(() => this.flush());
	}

	private flush(): void {
		clearImmediate(this.flushLater);
		this.flushLater = undefined;
		const lines = this.unsent.splice(0);
		if (lines.length > 0) this.child?.stdin?.write(lines.join(""));
	}
}

function spawnShell(
	{ channelRoot, mark, path = USUAL_PATH, shell = "/bin/sh" }: GuardOptions,
	lastWord: LastWord | undefined,
): ChildProcess {
	const at = mark.indexOf("=");
	// A connection that was closed since cannot be given to anybody.
	const socket = lastWord?.socket.destroyed ? undefined : lastWord?.socket;
	const guard = spawn(shell, ["-c", GUARD_SCRIPT, GUARD_NAME], {
		cwd: "/",
		detached: true,
		// Not in its arguments, where `pkill -f elastic-run` would match. It gets none of the agent's environment and the
		// mark in two parts, so it never holds the mark itself.
		env: {
			PATH: path,
			root: channelRoot,
			mark_name: mark.slice(0, at),
			mark_value: mark.slice(at + 1),
			last_word: lastWord?.word,
		},
		stdio: ["pipe", "ignore", "ignore", socket ?? "ignore"],
	});
	// Node has stopped to read what it shares. But the agent must see when the other end hangs up.
	socket?.resume();
	return guard;
}

function checkRemovable(channelRoot: string): void {
	const isOurs =
		resolve(channelRoot) === channelRoot &&
		basename(dirname(channelRoot)).startsWith("elastic-run-");
	// The guard removes this path recursively, so it must be exactly a channel directory.
	if (isOurs && !/[\r\n]/.test(channelRoot)) return;
	throw new ElasticRunError(
		"CHANNEL",
		`"${channelRoot}" cannot be the channel directory of an agent: it must be an absolute path without line breaks of the form …/elastic-run-<user>/<name>. Set ELASTIC_RUN_DIR to another directory`,
	);
}
