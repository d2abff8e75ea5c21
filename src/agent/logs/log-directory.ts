import { closeSync } from "node:fs";
import { join, resolve } from "node:path";
import type { StreamSelection } from "../configuration/agent-config.js";
import { explainDirectoryProblem } from "./directory-problem.js";
import { markTemporaryLogs } from "./log-owner.js";
import { LogsAhead, streamFile } from "./logs-ahead.js";
import { PrivateTree } from "./private-tree.js";

export interface LogDirectoryOptions {
	/** `--log-dir`; undefined: a fresh temporary one. */
	readonly logDir: string | undefined;
	/** The system's temporary directory. */
	readonly tmpdir: string;
	readonly runId: string;
	readonly instance: number;
	readonly nodeId: string;
}

/** This node's logs: `<dir>/<run-id>/<instance>/<node-id>`. Nothing in it is ever overwritten. */
export interface LogDirectory {
	/** Absolute path of the node's directory. */
	readonly directory: string;
	/** Where the launcher's own log belongs. */
	readonly agentLog: string;
	/**
	 * Makes `round-<k>/<local-rank>` and opens the streams that are redirected.
	 * Throws an ElasticRunError (USAGE) with the system's error as its cause.
	 */
	openWorker(
		round: number,
		localRank: number,
		redirect: StreamSelection,
	): WorkerLogs;
	/**
	 * Makes what `openWorker` opens for the next worker of this rank, where that is not done
	 * yet: its start is then quicker, most of all on a file system of the network. Never throws.
	 */
	createAhead(localRank: number, redirect: StreamSelection): void;
	/**
	 * Removes what no worker has used. Of a launch that ended before any worker's files were
	 * opened that is all that it made, as far as nothing was written into it; a temporary
	 * directory goes with the launcher's own log, which was on stderr too.
	 */
	discardUnused(): void;
}

/** Where a worker of a round has its files. */
export function workerDirectory(
	nodeDirectory: string,
	round: number,
	localRank: number,
): string {
	return join(nodeDirectory, `round-${round}`, String(localRank));
}

export interface WorkerLogs {
	readonly directory: string;
	/** Where the worker may leave its error: `TORCHELASTIC_ERROR_FILE`. Not there yet. */
	readonly errorFile: string;
	/** Undefined where the stream is not redirected. */
	readonly stdout: LogStream | undefined;
	readonly stderr: LogStream | undefined;
	/** Closes this process's copies, after the spawn. */
	closeDescriptors(): void;
}

export interface LogStream {
	/** Open for appending. */
	readonly fd: number;
	readonly path: string;
	/** What the file held before, in bytes: a tail begins here. */
	readonly startBytes: number;
}

/**
 * Makes the node's directory, points `<dir>/<run-id>/latest` to its instance,
 * and proves that it can be written. Throws an ElasticRunError (USAGE).
 */
export function openLogDirectory(options: LogDirectoryOptions): LogDirectory {
	try {
		return new NodeLogDirectory(options);
	} catch (error) {
		throw explainDirectoryProblem(error, options);
	}
}

class NodeLogDirectory implements LogDirectory {
	readonly directory: string;
	readonly agentLog: string;
	readonly #tree: PrivateTree;
	readonly #options: LogDirectoryOptions;
	readonly #ahead: LogsAhead;
	/** Taken back with the directories, whatever it holds. */
	#ownerFile: string | undefined;
	#used = false;

	constructor(options: LogDirectoryOptions) {
		const { logDir, tmpdir, runId, nodeId } = options;
		const instance = String(options.instance);
		this.#options = options;
		this.#tree =
			logDir === undefined
				? PrivateTree.temporary(join(resolve(tmpdir), "elastic-run-logs-"))
				: PrivateTree.at(resolve(logDir));
		try {
			if (logDir === undefined) {
				this.#ownerFile = markTemporaryLogs(this.#tree.root);
			}
			this.#tree.pointLatest(this.#tree.makeDirectory(runId), instance);
			this.directory = this.#tree.makeDirectory(runId, instance, nodeId);
			this.#tree.probe(this.directory);
		} catch (error) {
			this.#discard();
			throw error;
		}
		this.agentLog = join(this.directory, "agent.log");
		this.#ahead = new LogsAhead(this.directory);
	}

	openWorker(
		round: number,
		localRank: number,
		redirect: StreamSelection,
	): WorkerLogs {
		try {
			const logs = this.#openWorker(round, localRank, redirect);
			this.#used = true;
			this.#tree.keep();
			return logs;
		} catch (error) {
			throw explainDirectoryProblem(error, this.#options);
		}
	}

	createAhead(localRank: number, redirect: StreamSelection): void {
		this.#ahead.make(localRank, redirect);
	}

	discardUnused(): void {
		this.#ahead.discard();
		if (this.#used) return;
		if (this.#options.logDir === undefined) this.#discard(this.agentLog);
		else this.#discard();
	}

	#discard(...files: readonly string[]): void {
		const own = this.#ownerFile === undefined ? [] : [this.#ownerFile];
		this.#tree.discard(...files, ...own);
	}

	#openWorker(
		round: number,
		localRank: number,
		redirect: StreamSelection,
	): WorkerLogs {
		const directory = this.#makeWorkerDirectory(round, localRank);
		this.#tree.setAside(directory, "error", ".json");
		const open = (name: keyof StreamSelection): LogStream | undefined => {
			if (!redirect[name]) return undefined;
			const path = streamFile(directory, name);
			return { path, ...this.#tree.append(path) };
		};
		const stdout = open("stdout");
		try {
			const stderr = open("stderr");
			return workerLogs(directory, stdout, stderr);
		} catch (error) {
			if (stdout) closeSync(stdout.fd);
			throw error;
		}
	}

	#makeWorkerDirectory(round: number, localRank: number): string {
		const { runId, instance, nodeId } = this.#options;
		const segments = [
			...[runId, String(instance), nodeId],
			...[`round-${round}`, String(localRank)],
		];
		const directory = this.#tree.makeParents(...segments);
		const isTaken = this.#ahead.take(localRank, directory);
		return isTaken ? directory : this.#tree.makeDirectory(...segments);
	}
}

function workerLogs(
	directory: string,
	stdout: LogStream | undefined,
	stderr: LogStream | undefined,
): WorkerLogs {
	const open = new Set([stdout?.fd, stderr?.fd]);
	return {
		directory,
		errorFile: join(directory, "error.json"),
		stdout,
		stderr,
		closeDescriptors() {
			for (const fd of open) if (fd !== undefined) closeSync(fd);
			open.clear();
		},
	};
}
