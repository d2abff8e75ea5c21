import { type ChildProcess, spawn } from "node:child_process";
import { basename, dirname, resolve } from "node:path";
import type { Clock } from "../../clock.js";
import { ElasticRunError, messageOf } from "../../errors.js";
import { GUARD_SCRIPT } from "./guard-script.js";
import type { GroupRegistry } from "./worker-process.js";

/** A guard that ends more often than this within a minute is not started again. */
const MOST_ENDS_A_MINUTE = 5;
const MINUTE_MS = 60_000;
/** So many workers at most are spawned before the guard hears of them. */
const MOST_UNTOLD = 32;
const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

export interface GuardOptions {
	readonly clock: Clock;
	/** This agent's own channel directory, `…/elastic-run-…/<name>`: its workers' directories lie in it. */
	readonly channelRoot: string;
	/** What the environment of every worker holds: see `agentMark`. */
	readonly mark: string;
	/** The value of PATH by which the guard finds grep, head, sleep and rm. */
	readonly path: string | undefined;
	/** Is told in words where workers are, or were for a moment, without a guard. */
	readonly warn: (message: string) => void;
	/** Default: /bin/sh. */
	readonly shell?: string | undefined;
}

/** The process that outlives the agent and ends its workers. */
export interface Guard extends GroupRegistry {
	/** Undefined where none runs. */
	readonly pid: number | undefined;
	/**
	 * The agent ends in good order and its workers are gone: the guard ends as well, after
	 * those that left their worker's group (SIGTERM, a second later SIGKILL). Needs no waiting.
	 */
	close(): void;
}

/**
 * Starts the guard: however the agent ends, also by SIGKILL, the guard then SIGKILLs the groups
 * that were added and not removed, and (on Linux) every process whose environment bears `mark`; and it removes `channelRoot`. It is started again where it ends before the
 * agent. Without a shell there is no guard, but a warning. It keeps no agent alive.
 *
 * @throws ElasticRunError CHANNEL if `channelRoot` is not a path that may be removed.
 */
export function startGuard(options: GuardOptions): Guard {
	checkRemovable(options.channelRoot);
	return new GuardProcess(options);
}

class GuardProcess implements Guard {
	readonly #options: GuardOptions;
	readonly #groups = new Set<number>();
	#child: ChildProcess | undefined;
	#endedAt: readonly number[] = [];
	#untold: string[] = [];
	#flushLater: NodeJS.Immediate | undefined;

	constructor(options: GuardOptions) {
		this.#options = options;
		this.#start();
	}

	get pid(): number | undefined {
		return this.#child?.pid;
	}

	add(groupId: number): void {
		this.#groups.add(groupId);
		this.#tell(`+${groupId}`);
	}

	remove(groupId: number): void {
		this.#groups.delete(groupId);
		this.#tell(`-${groupId}`);
	}

	close(): void {
		const child = this.#child;
		this.#tell("bye");
		this.#flush();
		this.#child = undefined;
		child?.stdin?.end();
	}

	#start(): void {
		try {
			this.#follow(spawnShell(this.#options));
		} catch (error) {
			this.#giveUp(messageOf(error));
		}
	}

	#follow(child: ChildProcess): void {
		this.#child = child;
		child.once("error", (error) => {
			if (this.#child === child) this.#giveUp(messageOf(error));
		});
		child.once("exit", () => {
			if (this.#child === child) this.#startAgain(child);
		});
		// A guard that is gone breaks the pipe; its exit says so.
		child.stdin?.on("error", () => {});
		child.unref();
		// What the one before it was not told yet is in here.
		this.#untold = [...this.#groups].map((groupId) => `+${groupId}\n`);
		this.#flush();
	}

	#giveUp(why: string): void {
		this.#child = undefined;
		this.#options.warn(
			`no guard could be started (${why}): if this launcher is killed with SIGKILL, its workers or their children may live on. The guard needs a POSIX shell as /bin/sh`,
		);
	}

	#startAgain(child: ChildProcess): void {
		const now = this.#options.clock.now();
		const isRecent = (at: number) => now - at < MINUTE_MS;
		this.#endedAt = [...this.#endedAt.filter(isRecent), now];
		if (this.#endedAt.length > MOST_ENDS_A_MINUTE) {
			this.#giveUp(`it ended ${this.#endedAt.length} times in a minute`);
			return;
		}
		this.#options.warn(
			`the guard (pid ${child.pid}) ended before this launcher, and was started again`,
		);
		this.#start();
	}

	/** Each write wakes the guard, which then takes the processor: what one turn has to say is told at its end. */
	#tell(line: string): void {
		this.#untold.push(`${line}\n`);
		if (this.#untold.length >= MOST_UNTOLD) this.#flush();
		else this.#flushLater ??= setImmediate(() => this.#flush());
	}

	#flush(): void {
		clearImmediate(this.#flushLater);
		this.#flushLater = undefined;
		const lines = this.#untold.splice(0);
		if (lines.length > 0) this.#child?.stdin?.write(lines.join(""));
	}
}

function spawnShell({
	channelRoot,
	mark,
	path = USUAL_PATH,
	shell = "/bin/sh",
}: GuardOptions): ChildProcess {
	return spawn(
		shell,
		["-c", GUARD_SCRIPT, "elastic-run-guard", channelRoot, mark],
		{
			cwd: "/",
			detached: true,
			// Without the agent's environment it never bears a mark itself.
			env: { PATH: path },
			stdio: ["pipe", "ignore", "ignore"],
		},
	);
}

function checkRemovable(channelRoot: string): void {
	const isOurs =
		resolve(channelRoot) === channelRoot &&
		basename(dirname(channelRoot)).startsWith("elastic-run-");
	// It is removed whole one day, and nobody asks again then: nothing about it may be odd.
	if (isOurs && !/[\r\n]/.test(channelRoot)) return;
	throw new ElasticRunError(
		"CHANNEL",
		`"${channelRoot}" cannot be the channel directory of an agent: it must be an absolute path without line breaks of the form …/elastic-run-<user>/<name>. Set ELASTIC_RUN_DIR to another directory`,
	);
}
