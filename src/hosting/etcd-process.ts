import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { messageOf } from "../base/errors.js";
import { killWithParent } from "../processes/index.js";
import {
	type ClusterState,
	etcdArguments,
	type KeeperSettings,
} from "./etcd-arguments.js";
import { ETCD_ENVIRONMENT } from "./find-etcd.js";

const LAST_LINES = 10;
/** A panic of a Go program prints its reason first, and then the stack of each goroutine. */
const STACKS = /^goroutine \d+ \[/m;
const SHUT_OUT =
	/has been permanently removed from the cluster|tocommit\(\d+\) is out of range|"level":"(?:fatal|panic)".*(?:already been bootstrapped|crc mismatch|snapshot file doesn't exist|invalid database|file size too small)/;
/** A larger log is not kept: it holds nothing new. */
const LARGEST_LOG_BYTES = 8 * 1024 * 1024;

export class EtcdProcess {
	/** Resolves once it has ended, or could not be started. */
	readonly ended: Promise<void>;
	/** Whether it can never be a member with this data: it was removed, or what it had confirmed is lost or cannot be read. */
	isShutOut = false;
	private readonly child: ChildProcess;
	private stderr = "";
	private hasPanicked = false;
	private problem: string | undefined;
	private logged = 0;

	constructor(settings: KeeperSettings, state: ClusterState) {
		const { program, setpriv, directory } = settings;
		const args = etcdArguments(settings, state);
		const [file, words] =
			setpriv === undefined
				? [program, args]
				: [setpriv, killWithParent(program, args)];
		this.child = spawn(file, words, {
			cwd: "/",
			env: ETCD_ENVIRONMENT,
			stdio: ["ignore", "ignore", "pipe"],
		});
		this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
			this.hear(text);
			this.log(`${directory}/etcd.log`, text);
		});
		this.ended = new Promise((resolve) => {
			this.child.on("error", (error) => {
				this.problem = messageOf(error);
				resolve();
			});
			this.child.on("close", () => resolve());
		});
	}

	/** Whether it ended because another process has one of its ports. */
	get couldNotBind(): boolean {
		return this.stderr.includes("address already in use");
	}

	/** Why it ended, with its last lines. */
	get lastWords(): string {
		const { exitCode, signalCode } = this.child;
		const end = this.problem ?? signalCode ?? `exit code ${exitCode}`;
		return `etcd ended with ${end}\n${this.stderr.trim()}`;
	}

	signal(signal: NodeJS.Signals): void {
		this.child.kill(signal);
	}

	private hear(text: string): void {
		if (this.hasPanicked) return;
		this.isShutOut ||= SHUT_OUT.test(this.stderr + text);
		const [words = "", ...stacks] = (this.stderr + text).split(STACKS);
		this.hasPanicked = stacks.length > 0;
		this.stderr = words
			.split("\n")
			.slice(-LAST_LINES - 1)
			.join("\n");
	}

	private log(file: string, text: string): void {
		this.logged += text.length;
		if (this.logged > LARGEST_LOG_BYTES) return;
		try {
			appendFileSync(file, text, { mode: 0o600 });
		} catch {
			// A log that cannot be written must not end the run.
		}
	}
}
