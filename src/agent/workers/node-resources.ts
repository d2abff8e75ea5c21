import { statSync } from "node:fs";
import type { Writable } from "node:stream";
import type { Cleanups } from "../../base/cleanups.js";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import {
	type ChannelRoot,
	openChannelRoot,
	type ReplyListener,
	ReplyWatch,
} from "../../channel/index.js";
import type { AgentConfig } from "../../config/index.js";
import {
	createConsole,
	type FileCare,
	FreeSpaceWatch,
	type LogDirectory,
	openLogDirectory,
	type PinnedScreen,
	type ProcessLogger,
	removeOldLogs,
	type WorkerConsole,
} from "../../logs/index.js";
import { endLeftBehind, type WorkerSpawner } from "../../processes/index.js";
import { type OpenSpawner, prepareSpawner } from "./open-spawner.js";

/** The launcher's surroundings: its streams and clock. */
export interface LauncherIo {
	readonly clock: Clock;
	readonly log: ProcessLogger;
	readonly cleanups: Cleanups;
	readonly temporaryDirectory: string;
	/** Signals to this process that make its node leave. */
	readonly signals: readonly NodeJS.Signals[];
	/** Keeps lines in view on the terminal; undefined if there is none, or they are not wanted. */
	readonly screen: Pick<PinnedScreen, "show"> | undefined;
	readonly stdout: Writable & { readonly isTTY?: boolean };
	readonly stderr: Writable & { readonly isTTY?: boolean };
	/** Whether prefixes are coloured on each stream. */
	readonly colours: Readonly<Record<"stdout" | "stderr", boolean>>;
	/** Stands in for processes; undefined: the workers are processes of this node. */
	readonly standIn?: WorkerSpawner | undefined;
}

/** Everything that one node needs to run workers; `place.cleanups` closes it. */
export interface NodeResources extends OpenSpawner {
	readonly channels: ChannelRoot;
	readonly logs: LogDirectory;
	readonly console: WorkerConsole;
	readonly logSpace: FreeSpaceWatch;
	/** The same one if both are on one file system. */
	readonly channelSpace: FreeSpaceWatch;
}

/** Opens everything, the user's directories first: their problems are reported before anything is started. */
export async function openNodeResources(
	config: AgentConfig,
	{ instance, incarnation }: { instance: number; incarnation: string },
	place: LauncherIo,
): Promise<NodeResources> {
	const { clock, log, cleanups, temporaryDirectory: tmpdir } = place;
	const { runId, nodeId, logDir, keepLogs } = config;
	const warn = (message: string) => log.warn(message);
	const logs = openLogDirectory({ logDir, tmpdir, runId, instance, nodeId });
	cleanups.add("removing unused logs", () => logs.discardUnused());

	if (keepLogs !== undefined) {
		await removeOldLogs(logs.directory, keepLogs).catch((error) =>
			warn(`logs of earlier starts stay: ${messageOf(error)}`),
		);
	}

	const channels = openChannelRoot({
		base: config.channelBase,
		otherBase: tmpdir,
		uid: process.getuid?.() ?? 0,
		runId,
		agentId: nodeId,
	});
	cleanups.add("removing the channel", () => channels.remove());
	for (const warning of [...logs.warnings, ...channels.warnings])
		log.warn(warning);

	const loadSpawner = prepareSpawner(config, channels, incarnation, place);
	const { logSpace, channelSpace } = watchSpace(logs, channels, place);
	// The first entry of the directory; a refused launch removes the directory while it is empty.
	log.attachFile(logs.agentLog, careFor(logs, logSpace));
	await endLeftBehind({ clock, runId, nodeId, warn });
	const opened = await loadSpawner();
	const console = createConsole({
		clock,
		logger: log,
		onTimesError: (error) => logSpace.failedBeside(error),
		stdout: place.stdout,
		stderr: place.stderr,
		stdoutIsTerminal: place.stdout.isTTY === true,
		stderrIsTerminal: place.stderr.isTTY === true,
	});
	cleanups.add("closing the console", () => console.close());
	return { channels, logs, console, logSpace, channelSpace, ...opened };
}

/** What workers print and report needs room. */
function watchSpace(
	logs: Pick<LogDirectory, "directory">,
	channels: Pick<ChannelRoot, "directory">,
	{ clock, log, cleanups }: Pick<LauncherIo, "clock" | "log" | "cleanups">,
): Pick<NodeResources, "logSpace" | "channelSpace"> {
	const [logDevice, channelDevice] = [logs, channels].map(
		({ directory }) => statSync(directory).dev,
	);
	const logSpace = new FreeSpaceWatch({
		...{ clock, log, directory: logs.directory, holds: "the logs" },
		loss: "what workers print is lost, with the steps in it, and some fail of it",
		otherPlace: "--log-dir",
	});
	const channelSpace =
		logDevice === channelDevice
			? logSpace
			: new FreeSpaceWatch({
					...{ clock, log, directory: channels.directory },
					holds: "the channels",
					loss: "what workers report is lost, with their steps",
					otherPlace: "ELASTIC_RUN_DIR",
				});
	cleanups.add("closing the watches on free space", () => {
		logSpace.close();
		channelSpace.close();
	});
	return { logSpace, channelSpace };
}

function careFor(logs: LogDirectory, logSpace: FreeSpaceWatch): FileCare {
	return {
		makeDirectory: () => logs.makeAgain(),
		onError: (error) => logSpace.failed(error),
	};
}

/** The longest error of a worker in the log, in characters: its error file has all of it. */
const LONGEST_REPORT = 2_000;

export class Replies {
	private readonly watch: ReplyWatch;
	private readonly listeners: ReplyListener[] = [];
	private opening: Promise<void> | undefined;

	constructor(
		channels: ChannelRoot,
		private readonly place: Pick<LauncherIo, "clock" | "log">,
	) {
		const { clock, log } = place;
		const warn = (message: string) => log.warn(message);
		this.watch = new ReplyWatch(
			channels,
			(directory, reply) => {
				if (reply.kind === "ERROR") {
					const { message } = reply;
					log.warn(`a worker reports: ${shortened(message)}`, { directory });
				} else log.debug(`a worker says ${reply.kind}`, { directory });
				for (const listener of this.listeners) listener(directory, reply);
			},
			{ clock, warn },
		);
	}

	/** Delivers each reply to this listener too, after those before it. */
	deliverTo(listener: ReplyListener): void {
		this.listeners.push(listener);
	}

	/** Listens to the present workers. The first call loads the watcher; their replies can be read before it is there. */
	listen(): void {
		this.watch.follow();
		this.opening ??= this.watch
			.open()
			.catch((error) =>
				this.place.log.warn(
					`what workers report is not read: ${messageOf(error)}`,
				),
			);
	}

	/** Reads what a worker has said by now: it decides what a failure beside it costs, and its channel may be removed next. */
	readNow(channelDirectory: string): void {
		this.watch.readNow(channelDirectory);
	}

	async close(): Promise<void> {
		await this.opening;
		this.watch.close();
	}
}

function shortened(message: string): string {
	return message.length > LONGEST_REPORT
		? `${message.slice(0, LONGEST_REPORT)}…`
		: message;
}
