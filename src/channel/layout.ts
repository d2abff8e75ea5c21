import { join } from "node:path";

/**
 * The layout of one worker's channel directory.
 *
 *   latest.json              the newest event, replaced whole        agent → worker
 *   events/0000000001.json   every event, the newest 64 kept         agent → worker
 *   replies/0000000001.json  what the worker says, until it is read  worker → agent
 *   progress.json            how far it has come, replaced whole     worker → agent
 *   tmp/                     where files are written before they get their names; nobody watches it
 *   hook/                    what the launcher's hook in the worker tells: `HookPaths`
 *   doorbell                 a FIFO, opened for writing and closed when there is news   agent → worker
 */
export interface ChannelPaths {
	readonly directory: string;
	readonly latest: string;
	readonly events: string;
	readonly replies: string;
	readonly progress: string;
	readonly temporary: string;
	readonly doorbell: string;
	/** The directory of the hook in the worker: docs/hook.md. */
	readonly hook: string;
}

/**
 * The files of the hook, which a worker's first living process owns. Each may be absent.
 *
 *   owner                    its pid and start time, in words apart  worker → worker
 *   ready.json               what it does by now, replaced whole     worker → agent
 *   steps                    its optimizer steps: 20 characters, replaced in place   worker → agent
 *   exception.json           its uncaught exception, replaced whole  worker → agent
 *   stack.txt                its stacks, appended when asked for     worker → agent
 *   ask                      a growing number that asks a Node worker for its stack  agent → worker
 *   learn                    it shall leave modules.json at its first step   agent → worker
 *   modules.json             what it had imported by then, and how it was started   worker → agent
 *   torch.sock               torch's worker socket, unless its path would be too long
 */
export interface HookPaths {
	readonly owner: string;
	readonly ready: string;
	readonly steps: string;
	readonly exception: string;
	readonly stack: string;
	readonly ask: string;
	readonly learn: string;
	readonly modules: string;
}

/** How the short directory is called that holds a torch socket instead; it lies in the system's temporary one. */
export const SHORT_SOCKET_DIRECTORY = /^elastic-run-hook-\w+$/;

/** How many of the newest events are kept on disk. */
export const KEPT_EVENTS = 64;

/** The most bytes that one message may take as UTF-8 JSON. */
export const MESSAGE_LIMIT_BYTES = 1024 * 1024;

const SEQUENCE_DIGITS = 10;

export function channelPaths(directory: string): ChannelPaths {
	return {
		directory,
		latest: join(directory, "latest.json"),
		events: join(directory, "events"),
		replies: join(directory, "replies"),
		progress: join(directory, "progress.json"),
		temporary: join(directory, "tmp"),
		doorbell: join(directory, "doorbell"),
		hook: join(directory, "hook"),
	};
}

/** @param hook the hook's directory: a worker's ELASTIC_RUN_HOOK */
export function hookPaths(hook: string): HookPaths {
	return {
		owner: join(hook, "owner"),
		ready: join(hook, "ready.json"),
		steps: join(hook, "steps"),
		exception: join(hook, "exception.json"),
		stack: join(hook, "stack.txt"),
		ask: join(hook, "ask"),
		learn: join(hook, "learn"),
		modules: join(hook, "modules.json"),
	};
}

/** The file name of the message with this sequence number. */
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
