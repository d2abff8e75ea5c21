import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CLI } from "./cli.js";
import {
	describeThreads,
	endProcess,
	isAlive,
	temporaryFolder,
	waitFor,
} from "./processes.js";
import { onTestFailed, onTestFinished } from "./this-test.js";

/** What a worker wrote of itself: see fixtures/jobs/record.js and obeys.sh. */
export interface WorkerRecord {
	readonly pid: number;
	readonly args: readonly string[];
	readonly env: Readonly<Record<string, string>>;
	readonly extra: {
		readonly children?: readonly number[];
		/** Milliseconds on a clock that all processes share: see fixtures/jobs/obeys.js. */
		readonly startedAt?: number;
	};
}

export interface LaunchEnd {
	readonly exitCode: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly stdout: string;
	readonly stderr: string;
}

export interface LaunchOptions {
	/** Laid over the bare environment of the site. */
	readonly env?: Readonly<Record<string, string>>;
	readonly cwd?: string;
	/** What runs instead of the launcher itself, which is then among its arguments. */
	readonly through?: readonly string[];
	/** Leaves stdin open, for `input`. */
	readonly stdin?: boolean;
}

/** The path of a worker script in fixtures/jobs. */
export function job(name: string): string {
	return fileURLToPath(new URL(`../fixtures/jobs/${name}`, import.meta.url));
}

/**
 * A folder of a test's own, with all that its launchers write; all of it, and all that was started, ends with the test. If
 * the test fails, it says what they printed.
 */
export function openSite(): LaunchSite {
	const site = new LaunchSite();
	onTestFinished(() => site.close());
	onTestFailed(() => console.log(site.whatWasSaid()));
	return site;
}

/** A launcher that was started. */
export class Launch {
	/** What it has printed so far. */
	readonly output = { stdout: "", stderr: "" };
	readonly ended: Promise<LaunchEnd>;
	private isClosed = false;
	/** What it did when its test was over. */
	private lastState = "";

	constructor(
		private readonly child: ChildProcess,
		private readonly line: string,
	) {
		for (const name of ["stdout", "stderr"] as const) {
			child[name]?.setEncoding("utf8").on("data", (text: string) => {
				this.output[name] += text;
			});
		}
		this.ended = new Promise((resolve, reject) => {
			child.on("error", reject);
			child.on("close", (exitCode, signal) => {
				this.isClosed = true;
				resolve({ exitCode, signal, ...this.output });
			});
		});
	}

	get pid(): number {
		if (this.child.pid === undefined) throw new Error("it was not started");
		return this.child.pid;
	}

	get hasEnded(): boolean {
		return this.child.exitCode !== null || this.child.signalCode !== null;
	}

	signal(signal: NodeJS.Signals): void {
		this.child.kill(signal);
	}

	/** Types into its stdin. */
	type(text: string): void {
		this.child.stdin?.write(text);
	}

	endInput(): void {
		this.child.stdin?.end();
	}

	/** Ends it if it has not ended; its description then tells what it was doing. */
	end(): void {
		if (!this.hasEnded) {
			this.lastState = `had not ended:\n${describeThreads(this.pid)}`;
			this.signal("SIGKILL");
		} else if (!this.isClosed) this.lastState = "its streams were still open";
	}

	/** What was started, what became of it and what it printed: for people who read a failed test. */
	describe(): string {
		const { exitCode, signalCode } = this.child;
		const end = this.lastState || `ended with ${exitCode ?? signalCode}`;
		const { stdout, stderr } = this.output;
		return `${this.line}\n${end}\nstdout: ${stdout}\nstderr: ${stderr}`;
	}

	/** Waits until it has printed a text. */
	async saw(name: "stdout" | "stderr", text: string): Promise<void> {
		await waitFor(`"${text}" on ${name}`, () =>
			this.output[name].includes(text),
		);
	}
}

function readRecord(file: string): WorkerRecord {
	const text = readFileSync(file, "utf8");
	if (file.endsWith(".json")) return JSON.parse(text);
	const [startedAt, count, ...words] = text.split("\0").slice(0, -1);
	const args = words.splice(0, Number(count));
	const env = words.map((word) => /^([^=]*)=(.*)$/s.exec(word)?.slice(1) ?? []);
	const { JOB_CHILDREN, ...variables }: Record<string, string> =
		Object.fromEntries(env);
	const children = JOB_CHILDREN?.split(" ").map(Number) ?? [];
	return {
		pid: Number(/-(\d+)\.env$/.exec(file)?.[1]),
		args,
		env: variables,
		extra: { startedAt: Number(startedAt), children },
	};
}

export class LaunchSite {
	private readonly folder = temporaryFolder();
	private readonly launches: Launch[] = [];
	readonly path = this.folder.path;
	/** Where channels lie: ELASTIC_RUN_DIR. */
	readonly channels = this.makeFolder("channels");
	/** TMPDIR */
	readonly temporary = this.makeFolder("temporary");
	/** ELASTIC_RUN_LOG_DIR; the launcher makes it. */
	readonly logs = join(this.path, "logs");
	/** The file whose presence lets a waiting worker go on: JOB_RELEASE. */
	readonly release = join(this.path, "release");
	private readonly records = this.makeFolder("records");

	/** Everything that launchers get as their environment. */
	get environment(): Record<string, string> {
		const { ELASTIC_RUN_WARM: warm } = process.env;
		return {
			...(warm === undefined ? {} : { ELASTIC_RUN_WARM: warm }),
			PATH: process.env.PATH ?? "",
			HOME: this.path,
			TMPDIR: this.temporary,
			ELASTIC_RUN_DIR: this.channels,
			ELASTIC_RUN_LOG_DIR: this.logs,
			ELASTIC_RUN_NODE_ID: "node-a",
			JOB_RECORDS: this.records,
			JOB_LOGS: this.logs,
			JOB_RELEASE: this.release,
		};
	}

	/** Starts the built command with these arguments. */
	launch(args: readonly string[], options: LaunchOptions = {}): Launch {
		return this.start(process.execPath, [CLI, ...args], options);
	}

	/** Starts any program in the environment that launchers get here. */
	start(
		file: string,
		args: readonly string[],
		{ env = {}, cwd = this.path, through = [], stdin }: LaunchOptions = {},
	): Launch {
		const [program = file, ...words] = [...through, file, ...args];
		const child = spawn(program, words, {
			cwd,
			env: { ...this.environment, ...env },
			stdio: [stdin ? "pipe" : "ignore", "pipe", "pipe"],
		});
		const node = env.ELASTIC_RUN_NODE_ID ?? "node-a";
		const line = [`${node}:`, program, ...words].join(" ");
		const launch = new Launch(child, line);
		this.launches.push(launch);
		return launch;
	}

	/** What the workers of a round wrote of themselves, by rank; of all rounds where none is named. */
	workers(round?: number): readonly WorkerRecord[] {
		return readdirSync(this.records)
			.filter((name) => /\.(json|env)$/.test(name))
			.map((name) => readRecord(join(this.records, name)))
			.filter(
				({ env }) =>
					round === undefined || env.ELASTIC_RUN_ROUND === String(round),
			)
			.sort((a, b) => Number(a.env.RANK) - Number(b.env.RANK));
	}

	/** Waits until `count` workers of a round run, or have run. */
	async sawWorkers(
		count: number,
		round?: number,
	): Promise<readonly WorkerRecord[]> {
		return waitFor(`${count} workers of round ${round ?? "any"}`, () => {
			const workers = this.workers(round);
			return workers.length >= count && workers;
		});
	}

	/** Waits for one that was started for this round and has such an environment. */
	sawWorker(
		round: number,
		env: Readonly<Record<string, string>>,
	): Promise<WorkerRecord> {
		const bearing = Object.entries(env);
		return waitFor(`a worker of round ${round}, ${JSON.stringify(env)}`, () =>
			this.workers(round).find((worker) =>
				bearing.every(([name, value]) => worker.env[name] === value),
			),
		);
	}

	/** Every process that workers have written of: themselves and their children. */
	processes(): readonly number[] {
		return this.workers().flatMap(({ pid, extra }) => [
			pid,
			...(extra.children ?? []),
		]);
	}

	livingProcesses(): readonly number[] {
		return this.processes().filter(isAlive);
	}

	/** The directories of agents that are there now. */
	channelDirectories(): readonly string[] {
		const parent = join(this.channels, `elastic-run-${process.getuid?.()}`);
		return existsSync(parent) ? readdirSync(parent) : [];
	}

	/** Waits until no worker, no child of one and no agent's directory is left. */
	async isSwept(): Promise<void> {
		await waitFor("all workers and channels to be gone", () => {
			const { length } = this.livingProcesses();
			return length === 0 && this.channelDirectories().length === 0;
		});
	}

	whatWasSaid(): string {
		return this.launches.map((launch) => launch.describe()).join("\n");
	}

	/** The guards of launchers that are killed here end the workers; what they missed is ended by its pid. */
	async close(): Promise<void> {
		for (const launch of this.launches) launch.end();
		await this.isSwept().catch(() => {});
		this.livingProcesses()
			.filter((pid) => this.isOurs(pid))
			.forEach(endProcess);
		this.folder.remove();
	}

	/** A pid may be another process's by now, or that of another pid namespace: ours know this site's folder. */
	private isOurs(pid: number): boolean {
		try {
			return readFileSync(`/proc/${pid}/environ`, "utf8").includes(this.path);
		} catch {
			return false;
		}
	}

	private makeFolder(name: string): string {
		const path = join(this.path, name);
		mkdirSync(path);
		return path;
	}
}
