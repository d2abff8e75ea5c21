import { join } from "node:path";

/** How the short directory is called that holds a torch socket instead; it lies in the system's temporary one. */
export const SHORT_SOCKET_DIRECTORY = /^elastic-run-hook-\w+$/;

/** How many of the newest events are kept on disk. */
export const KEPT_EVENTS = 64;

/** The most bytes that one message may take as UTF-8 JSON. */
export const MESSAGE_LIMIT_BYTES = 1024 * 1024;

const SEQUENCE_DIGITS = 10;

/** The files of one worker's channel. */
export type ChannelPaths = Readonly<ReturnType<typeof channelPaths>>;

export function channelPaths(directory: string) {
	return {
		directory,
		/** The newest event, replaced whole: agent → worker. */
		latest: join(directory, "latest.json"),
		/** events/0000000001.json: every event, the newest 64 kept, agent → worker. */
		events: join(directory, "events"),
		/** replies/0000000001.json: what the worker says, until it is read, worker → agent. */
		replies: join(directory, "replies"),
		/** How far it has come, replaced whole: worker → agent. */
		progress: join(directory, "progress.json"),
		/** Where files are written before they get their names; nobody watches it. */
		temporary: join(directory, "tmp"),
		/** A FIFO, opened for writing and closed when there is news: agent → worker. */
		doorbell: join(directory, "doorbell"),
		/** What the launcher's hook in the worker says: `HookPaths`. */
		hook: join(directory, "hook"),
	};
}

/**
 * The files of the hook, which a worker's first living process owns (docs/channel.md). Each may be absent. Torch's worker
 * socket, torch.sock, is there too, unless its path would be too long.
 */
export type HookPaths = Readonly<ReturnType<typeof hookPaths>>;

/** @param hook the hook's directory: a worker's ELASTIC_RUN_HOOK */
export function hookPaths(hook: string) {
	return {
		/** Its pid and start time: worker → worker. */
		owner: join(hook, "owner"),
		/** What it does by now, replaced whole: worker → agent. */
		ready: join(hook, "ready.json"),
		/** Its optimizer steps: 20 characters, replaced in place, worker → agent. */
		steps: join(hook, "steps"),
		/** What it is busy with while no step comes, replaced in place, worker → agent. */
		phase: join(hook, "phase"),
		/** Its uncaught exception, replaced whole: worker → agent. */
		exception: join(hook, "exception.json"),
		/** Its stacks, appended on request: worker → agent. */
		stack: join(hook, "stack.txt"),
		/** A growing number that requests the stack of a Node worker: agent → worker. */
		ask: join(hook, "ask"),
		/** It shall leave modules.json at its first step: agent → worker. */
		learn: join(hook, "learn"),
		/** What it had imported by then, and how it was started: worker → agent. */
		modules: join(hook, "modules.json"),
	};
}

export function messageFileName(sequence: number): string {
	return `${String(sequence).padStart(SEQUENCE_DIGITS, "0")}.json`;
}

/** The sequence number in a file name, or undefined for other names. */
export function sequenceOf(fileName: string): number | undefined {
	const digits = /^(\d{10})\.json$/.exec(fileName)?.[1];
	const sequence = digits === undefined ? 0 : Number(digits);
	return sequence > 0 ? sequence : undefined;
}

/** The sequence numbers among file names, ascending. Other names are left out. */
export function sequencesIn(fileNames: readonly string[]): number[] {
	return fileNames
		.map(sequenceOf)
		.filter((sequence) => sequence !== undefined)
		.sort((a, b) => a - b);
}

/** The directory name of the `attempt`th channel of this local rank. */
export function workerDirectoryName(
	localRank: number,
	attempt: number,
): string {
	return `w${localRank}.${attempt}`;
}
