import { closeSync } from "node:fs";
import { join, resolve } from "node:path";
import { attempt, textAt } from "../base/attempt.js";
import { ElasticRunError, messageOf, systemErrorCode } from "../base/errors.js";
import type { StreamSelection } from "../model/index.js";
import { HeldFile } from "./held-file.js";
import { exists } from "./latest-link.js";
import { markTemporaryLogs } from "./log-owner.js";
import { LogsAhead, streamFile } from "./logs-ahead.js";
import { PrivateTree } from "./private-tree.js";

export interface LogDirectoryOptions {
	/** `--log-dir`; undefined: a new temporary directory. */
	readonly logDir: string | undefined;
	/** The system's temporary directory. */
	readonly tmpdir: string;
	readonly runId: string;
	readonly instance: number;
	readonly nodeId: string;
}

/** This node's logs: `<dir>/<run-id>/<instance>/<node-id>`. It never overwrites a file. */
export interface LogDirectory {
	/** Absolute path of the node's directory. */
	readonly directory: string;
	/** The path of the launcher's log. */
	readonly agentLog: string;
	/** The directory, if it will be there after the launch; null if nothing of it will be kept. */
	readonly kept: string | null;
	/**
	 * Makes `round-<k>/<local-rank>` and opens the redirected streams. Throws an ElasticRunError (USAGE) whose cause is the
	 * system's error.
	 */
	openWorker(
		round: number,
		localRank: number,
		redirect: StreamSelection,
	): WorkerLogs;
	/** Makes early what `openWorker` opens for the next worker of this rank, so that it starts faster. Never throws. */
	createAhead(localRank: number, redirect: StreamSelection): void;
	/** Opens a stream's file of the next worker of this rank for appending; undefined if there is none yet. Never throws. */
	openAhead(localRank: number, name: keyof StreamSelection): number | undefined;
	/** Makes the directory again after somebody removed it. Throws if another one is in its place. */
	makeAgain(): void;
	/**
	 * Removes what no worker has used. If a launch ends before any worker's files were opened, that is everything that it
	 * made and that is still empty. A temporary directory is removed with the launcher's log, which was on stderr too.
	 */
	discardUnused(): void;
}

export interface OpenedLogDirectory extends LogDirectory {
	/** What the user should know about it. */
	readonly warnings: readonly string[];
}

export function workerDirectory(
	nodeDirectory: string,
	round: number,
	localRank: number,
): string {
	return join(nodeDirectory, `round-${round}`, String(localRank));
}

/**
 * Makes the node's directory, points `<dir>/<run-id>/latest` to its instance, and tests that it can be written. Throws an
 * ElasticRunError (USAGE).
 */
export function openLogDirectory(
	options: LogDirectoryOptions,
): OpenedLogDirectory {
	try {
		return new NodeLogDirectory(options);
	} catch (error) {
		throw explainDirectoryProblem(error, options);
	}
}

class NodeLogDirectory implements OpenedLogDirectory {
	readonly directory: string;
	readonly agentLog: string;
	warnings: readonly string[] = [];
	private readonly tree: PrivateTree;
	private readonly options: LogDirectoryOptions;
	private readonly ahead: LogsAhead;
	/** Removed with the directories, whatever it holds. */
	private ownerFile: string | undefined;
	private readonly budget = new DescriptorBudget(openFilesLimit());
	private used = false;

	constructor(options: LogDirectoryOptions) {
		const { logDir, tmpdir, runId, nodeId } = options;
		const instance = String(options.instance);
		this.options = options;
		this.tree =
			logDir === undefined
				? PrivateTree.temporary(join(resolve(tmpdir), "elastic-run-logs-"))
				: PrivateTree.at(resolve(logDir));
		this.directory = join(this.tree.root, runId, instance, nodeId);
		try {
			this.make();
			this.tree.probe(this.directory);
		} catch (error) {
			this.discard();
			throw error;
		}
		this.agentLog = join(this.directory, "agent.log");
		this.ahead = new LogsAhead(this.directory);
	}

	get kept(): string | null {
		const isKept = this.used || this.options.logDir !== undefined;
		return isKept ? this.directory : null;
	}

	openWorker(
		round: number,
		localRank: number,
		redirect: StreamSelection,
	): WorkerLogs {
		try {
			const logs = this.openWorkerFiles(round, localRank, redirect);
			this.used = true;
			this.tree.keep();
			return logs;
		} catch (error) {
			throw explainDirectoryProblem(error, this.options);
		}
	}

	createAhead(localRank: number, redirect: StreamSelection): void {
		this.ahead.make(localRank, redirect);
	}

	openAhead(
		localRank: number,
		name: keyof StreamSelection,
	): number | undefined {
		return attempt(() => this.ahead.open(localRank, name));
	}

	makeAgain(): void {
		const { runId, instance, nodeId } = this.options;
		if (!exists(this.directory)) this.make();
		else this.tree.find(runId, String(instance), nodeId);
	}

	discardUnused(): void {
		this.ahead.discard();
		if (this.used) return;
		if (this.options.logDir === undefined) this.discard(this.agentLog);
		else this.discard();
	}

	private make(): void {
		const { logDir, runId, nodeId } = this.options;
		const instance = String(this.options.instance);
		const ofRun = this.tree.makeDirectory(runId);
		if (logDir === undefined) {
			this.ownerFile = markTemporaryLogs(this.tree.root);
		}
		this.pointLatest(ofRun, instance);
		this.tree.makeDirectory(runId, instance, nodeId);
	}

	/** The link is a convenience. A directory that takes nothing at all is refused by what follows. */
	private pointLatest(directory: string, instance: string): void {
		try {
			this.tree.pointLatest(directory, instance);
		} catch (error) {
			const words = `${directory} has no link "latest" to this start, ${instance}`;
			this.warnings = [`${words}: ${messageOf(error)}`];
		}
	}

	private discard(...files: readonly string[]): void {
		const own = this.ownerFile === undefined ? [] : [this.ownerFile];
		this.tree.discard(...files, ...own);
	}

	private openWorkerFiles(
		round: number,
		localRank: number,
		redirect: StreamSelection,
	): WorkerLogs {
		this.makeAgain();
		const directory = this.makeWorkerDirectory(round, localRank);
		this.tree.setAside(directory, "error", ".json");
		const open = (name: keyof StreamSelection): LogStream | undefined => {
			if (!redirect[name]) return undefined;
			const path = streamFile(directory, name);
			const { fd, startBytes } = this.tree.append(path);
			const file = HeldFile.of(path, fd);
			const giveBack = this.budget.take();
			if (giveBack) file.hold(giveBack);
			return { path, fd, startBytes, file };
		};
		const stdout = open("stdout");
		try {
			const stderr = open("stderr");
			return workerLogs(directory, stdout, stderr);
		} catch (error) {
			if (stdout) closeSync(stdout.fd);
			stdout?.file.close();
			throw error;
		}
	}

	private makeWorkerDirectory(round: number, localRank: number): string {
		const { runId, instance, nodeId } = this.options;
		const segments = [
			...[runId, String(instance), nodeId],
			...[`round-${round}`, String(localRank)],
		];
		const directory = this.tree.makeParents(...segments);
		const isTaken = this.ahead.take(localRank, directory);
		return isTaken ? directory : this.tree.makeDirectory(...segments);
	}
}

/** The limit on open files if the system does not tell it. */
const USUAL_LIMIT = 256;
/** The divisor of the limit. The rest is for workers that start, the store and everything else. */
const PART = 4;

/** Limits the files held open for reading to a part of this process's limit. */
class DescriptorBudget {
	private left: number;

	constructor(limit: number) {
		this.left = Math.floor(limit / PART);
	}

	/** Takes one; returns a function that gives it back, or undefined if none is left. */
	take(): (() => void) | undefined {
		if (this.left <= 0) return undefined;
		this.left -= 1;
		return () => {
			this.left += 1;
		};
	}
}

/** How many files this process may have open at once. */
function openFilesLimit(): number {
	const limits = textAt("/proc/self/limits") ?? "";
	const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
	return soft === undefined ? USUAL_LIMIT : Number(soft);
}

const REASONS: Readonly<Record<string, string>> = {
	EACCES: "permission denied",
	EPERM: "permission denied",
	EROFS: "the file system is read-only",
	ENOSPC: "no space left on the device",
	EDQUOT: "the disk quota is spent",
	EFBIG: "files may not be so large: raise `ulimit -f`",
	ENOENT: "it cannot be created there",
	ENOTDIR: "it is, or leads through, something that is no directory",
	ELOOP: "a symbolic link or special file is in the way",
	EMFILE: "too many open files: raise `ulimit -n`",
};

/** Says which directory, why, and what to do. The system's message has the path of the file. */
function explainDirectoryProblem(
	error: unknown,
	{
		logDir,
		tmpdir,
	}: { readonly logDir: string | undefined; readonly tmpdir: string },
): ElasticRunError {
	const reason = REASONS[systemErrorCode(error) ?? ""];
	const system = messageOf(error);
	const detail = reason === undefined ? system : `${reason} (${system})`;
	const where =
		logDir === undefined
			? `the temporary directory ${tmpdir}`
			: `--log-dir ${logDir}`;
	const fix =
		logDir === undefined
			? "set TMPDIR or --log-dir to a directory that can be written"
			: "choose a directory that can be written";
	return new ElasticRunError("USAGE", `${where}: ${detail}; ${fix}`, {
		cause: error,
	});
}

export interface WorkerLogs {
	readonly directory: string;
	/** Where the worker may write its error: `TORCHELASTIC_ERROR_FILE`. It does not exist yet. */
	readonly errorFile: string;
	/** Undefined if the stream is not redirected. */
	readonly stdout: LogStream | undefined;
	readonly stderr: LogStream | undefined;
	/** Closes this process's descriptors after the spawn. */
	closeDescriptors(): void;
	/** Nobody will read the streams any more. */
	letGo(): void;
}

export interface LogStream {
	/** Open for appending. */
	readonly fd: number;
	readonly path: string;
	/** The file's size before, in bytes: a tail begins here. */
	readonly startBytes: number;
	/** For reading, even after it was removed or renamed. */
	readonly file: HeldFile;
}

/** The files opened for one worker in this directory. */
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
		letGo() {
			stdout?.file.close();
			stderr?.file.close();
		},
	};
}
