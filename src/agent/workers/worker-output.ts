import { closeSync } from "node:fs";
import type { WorkerInfo } from "../../channel/index.js";
import type { AgentConfig } from "../../config/index.js";
import {
	type Followed,
	type LogDirectory,
	type LogStream,
	lastLines,
	planStreams,
	redirectedIn,
	renderPrefix,
	type StreamPlan,
	type WorkerConsole,
	type WorkerLogs,
	type WorkerStreams,
} from "../../logs/index.js";
import type { NextStreams } from "../../processes/index.js";
import { readErrorFile, type WorkerError } from "../../status/index.js";

/** A longer stack at the end of a worker's stderr is cut. */
export const MOST_STACK_LINES = 200;

export interface WorkerOutputOptions {
	readonly config: AgentConfig;
	readonly logs: LogDirectory;
	readonly console: WorkerConsole;
	/** Whether prefixes of lines on each stream are coloured. */
	readonly colours: Readonly<Record<"stdout" | "stderr", boolean>>;
}

interface Shown {
	readonly target: "stdout" | "stderr";
	readonly file: Followed;
}

/** Where one worker's output goes: its log files, the console, its error file. */
export class WorkerOutput {
	readonly logs: WorkerLogs;
	/** Descriptors of this process. */
	readonly stdout: number;
	readonly stderr: number;
	private readonly plan: WorkerStreams;
	private readonly shown: readonly Shown[];

	/** Throws if the disk refuses the files. */
	constructor(
		info: WorkerInfo,
		private readonly options: WorkerOutputOptions,
	) {
		const { config, logs } = options;
		const { round, localRank } = info;
		this.plan = planStreams(config, localRank);
		this.logs = logs.openWorker(round, localRank, redirectedIn(this.plan));
		this.shown = [
			...this.show(info, this.plan.stdout, this.logs.stdout),
			...this.show(info, this.plan.stderr, this.logs.stderr),
		];
		this.stdout = descriptorOf(this.plan.stdout, this.logs.stdout);
		this.stderr = descriptorOf(this.plan.stderr, this.logs.stderr);
	}

	/** Call it after the spawn, also a failed one. */
	closeDescriptors(): void {
		this.logs.closeDescriptors();
	}

	/** The worker has another place: its further lines get the new prefix. */
	moveTo(place: WorkerInfo): void {
		for (const { target, file } of this.shown) {
			file.rename(this.prefixOf(place, target), ownerOf(place));
		}
	}

	/** Shows the rest of the files, and closes them. */
	finish(): void {
		const finished = this.shown.map(({ file }) => file.finish());
		void Promise.all(finished).then(() => this.logs.letGo());
	}

	/** Opens the streams of the next worker of this rank; undefined if its files are not prepared. */
	openNext(localRank: number): NextStreams | undefined {
		const opened: number[] = [];
		const close = () => opened.splice(0).forEach(closeSync);
		const open = (name: "stdout" | "stderr"): number | undefined => {
			const stream = this.plan[name];
			if (stream.kind === "inherit") return stream.descriptor;
			const descriptor = this.options.logs.openAhead(localRank, name);
			if (descriptor !== undefined) opened.push(descriptor);
			return descriptor;
		};
		const [stdout, stderr] = [open("stdout"), open("stderr")];
		if (stdout !== undefined && stderr !== undefined) {
			return { stdout, stderr, close };
		}
		close();
		return undefined;
	}

	/** Makes the log files of the next worker of this rank. */
	createNext(localRank: number): void {
		this.options.logs.createAhead(localRank, redirectedIn(this.plan));
	}

	/** The worker's own description of its failure. */
	readError(): WorkerError | undefined {
		return readErrorFile(this.logs.errorFile);
	}

	/** The last lines of its stderr, long enough for a stack; empty if it was not redirected. */
	readLastLines(): readonly string[] {
		const { stderr } = this.logs;
		if (stderr === undefined) return [];
		const { file, startBytes } = stderr;
		return lastLines(file, { from: startBytes, count: MOST_STACK_LINES });
	}

	/** The same if its stderr file was removed or renamed; undefined if it was not. */
	readLostLines(): readonly string[] | undefined {
		const { stderr } = this.logs;
		if (stderr === undefined || !stderr.file.isAway) return undefined;
		return lastLines(stderr.file, {
			from: stderr.startBytes,
			count: MOST_STACK_LINES,
		});
	}

	private show(
		info: WorkerInfo,
		plan: StreamPlan,
		stream: LogStream | undefined,
	): readonly Shown[] {
		if (plan.kind === "inherit" || !plan.shownOn || !stream) return [];
		const target = plan.shownOn;
		const file = this.options.console.follow({
			path: stream.path,
			file: stream.file,
			from: stream.startBytes,
			target,
			prefix: this.prefixOf(info, target),
			owner: ownerOf(info),
		});
		return [{ target, file }];
	}

	private prefixOf(place: WorkerInfo, target: Shown["target"]): Uint8Array {
		const { config, colours } = this.options;
		const about = { node: config.nodeId, ...place };
		return renderPrefix(config.logPrefix, about, colours[target]);
	}
}

function ownerOf({ rank, round }: WorkerInfo): string {
	return `rank ${rank}, round ${round}`;
}

function descriptorOf(plan: StreamPlan, file: LogStream | undefined): number {
	if (plan.kind === "inherit") return plan.descriptor;
	if (file === undefined) throw new Error("a redirected stream has no file");
	return file.fd;
}
