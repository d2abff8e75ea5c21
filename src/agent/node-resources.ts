import type { Writable } from "node:stream";
import { type ChannelRoot, openChannelRoot } from "../channel/channel-root.js";
import type { ReplyListener } from "../channel/reply-reader.js";
import type { ReplyWatch } from "../channel/watch-replies.js";
import type { Clock } from "../clock.js";
import { messageOf } from "../errors.js";
import type { Cleanups } from "./cleanups.js";
import type { AgentConfig } from "./configuration/agent-config.js";
import { createConsole, type WorkerConsole } from "./logs/console-tail.js";
import type { ProcessLogger } from "./logs/create-logger.js";
import { FreeSpaceWatch } from "./logs/free-space.js";
import { type LogDirectory, openLogDirectory } from "./logs/log-directory.js";
import type { PinnedScreen } from "./logs/pinned-screen.js";
import { watchEscapees } from "./supervision/escapees.js";
import { startGuard } from "./supervision/guard.js";
import { agentMark } from "./supervision/marked-processes.js";
import { loadProcessSpawner } from "./supervision/process-spawner.js";
import { findSetpriv } from "./supervision/setpriv.js";
import type { WorkerSpawner } from "./supervision/worker.js";

/** Where the launcher itself stands: what it writes to, and what time it has. */
export interface NodePlace {
	readonly clock: Clock;
	readonly log: ProcessLogger;
	readonly cleanups: Cleanups;
	readonly temporaryDirectory: string;
	/** Signals to this process that make its node leave. */
	readonly signals: readonly NodeJS.Signals[];
	/** Keeps lines in view on the terminal; undefined: there is none, or they are not wanted. */
	readonly screen: Pick<PinnedScreen, "show"> | undefined;
	readonly stdout: Writable & { readonly isTTY?: boolean };
	readonly stderr: Writable & { readonly isTTY?: boolean };
	/** Whether prefixes are coloured there. */
	readonly colours: Readonly<Record<"stdout" | "stderr", boolean>>;
}

/** What one node needs to run workers; `place.cleanups` closes it. */
export interface NodeResources {
	readonly channels: ChannelRoot;
	readonly logs: LogDirectory;
	readonly console: WorkerConsole;
	readonly logSpace: FreeSpaceWatch;
	readonly spawner: WorkerSpawner;
}

/** Opens it all, the user's directories first: what is wrong with those is said before anything is started. */
export async function openNodeResources(
	config: AgentConfig,
	{ instance, incarnation }: { instance: number; incarnation: string },
	place: NodePlace,
): Promise<NodeResources> {
	const { clock, log, cleanups, temporaryDirectory: tmpdir } = place;
	const { runId, nodeId, logDir } = config;
	const warn = (message: string) => log.warn(message);
	const logs = openLogDirectory({ logDir, tmpdir, runId, instance, nodeId });
	cleanups.add("removing unused logs", () => logs.discardUnused());

	const channels = openChannelRoot({
		base: config.channelBase,
		uid: process.getuid?.() ?? 0,
		runId,
		agentId: nodeId,
	});
	cleanups.add("removing the channel", () => channels.remove());
	for (const warning of channels.warnings) log.warn(warning);

	const path = config.environment.PATH;
	// Tried while the rest is loaded.
	const setpriv = findSetpriv(path);
	const mark = agentMark(incarnation);
	const guard = startGuard({
		clock,
		channelRoot: channels.directory,
		mark,
		path,
		warn,
	});
	cleanups.add("ending the guard", () => guard.close());
	// The first thing in the directory, which a refused launch takes back while it is empty.
	log.attachFile(logs.agentLog);
	const logSpace = new FreeSpaceWatch({
		clock,
		directory: logs.directory,
		warn,
	});
	cleanups.add("closing the watch on the logs' space", () => logSpace.close());
	const spawner = await loadProcessSpawner({
		clock,
		setpriv,
		registry: guard,
		escapees: watchEscapees({ clock, mark, warn }),
		warn,
	});
	const console = createConsole({
		clock,
		logger: log,
		stdout: place.stdout,
		stderr: place.stderr,
		stdoutIsTerminal: place.stdout.isTTY === true,
		stderrIsTerminal: place.stderr.isTTY === true,
	});
	cleanups.add("closing the console", () => console.close());
	return { channels, logs, console, logSpace, spawner };
}

/** What the workers say, read from the first spawn on: the watcher is not loaded before. */
export class Replies {
	private watch: ReplyWatch | undefined;
	private opening: Promise<void> | undefined;

	constructor(
		private readonly channels: ChannelRoot,
		private readonly place: NodePlace,
		private readonly hear: ReplyListener,
	) {}

	/** Listens to the workers that there are now. */
	listen(): void {
		this.watch?.follow();
		this.opening ??= this.open().catch((error) =>
			this.place.log.warn(
				`what workers report is not read: ${messageOf(error)}`,
			),
		);
	}

	/** Reads what a worker said last, before its channel is removed. */
	readNow(channelDirectory: string): void {
		this.watch?.readNow(channelDirectory);
	}

	async close(): Promise<void> {
		await this.opening;
		await this.watch?.close();
	}

	private async open(): Promise<void> {
		const { watchReplies } = await import("../channel/watch-replies.js");
		const { clock, log } = this.place;
		this.watch = await watchReplies(
			this.channels,
			(directory, reply) => {
				if (reply.kind === "ERROR") {
					log.warn(`a worker reports: ${reply.message}`, { directory });
				} else log.debug(`a worker says ${reply.kind}`, { directory });
				this.hear(directory, reply);
			},
			{ clock, warn: (message) => log.warn(message) },
		);
	}
}
