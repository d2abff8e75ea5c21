import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
	existsSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const IN_MEMORY = "/dev/shm";
/** What a few servers need: etcd allocates 64 MB for its log, and as much for the next. */
const ROOM_BYTES = 1024 ** 3;
/** Each one looks at all threads: this is about a second. */
const MOST_TURNS = 10_000;
const LAST_LINES = 40;

/**
 * Outlives the test process, however that ends, and then kills the last process whose id
 * it was told, and removes the folder.
 */
const GUARD = `
trap '' HUP INT QUIT TERM
pid=
while IFS= read -r line; do pid=$line; done
[ "$pid" ] && kill -KILL "$pid"
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }
`;

/** A folder for one server's data, in memory where there is room, and whoever ends with the test process. */
export class EtcdFolder {
	readonly path = mkdtempSync(join(dataRoot(), "elastic-run-etcd-"));
	private readonly guard: ChildProcess;

	constructor() {
		this.guard = spawn("/bin/sh", ["-c", GUARD, "etcd-guard", this.path], {
			cwd: "/",
			detached: true,
			stdio: ["pipe", "ignore", "ignore"],
		});
		// A guard that is gone breaks the pipe.
		this.guard.stdin?.on("error", () => {});
		this.guard.unref();
	}

	/** Nobody needs guarding where no pid is given. */
	guards(pid?: number): void {
		this.guard.stdin?.write(`${pid ?? ""}\n`);
	}

	/** The guard ends as well. */
	remove(): void {
		rmSync(this.path, { recursive: true, force: true });
		this.guard.stdin?.end();
	}
}

/** One process of etcd. */
export class EtcdProcess {
	private readonly child: ChildProcess;
	private readonly folder: EtcdFolder;
	private stderr = "";
	private problem: string | undefined;

	constructor(program: string, args: readonly string[], folder: EtcdFolder) {
		this.folder = folder;
		this.child = spawn(program, args, {
			cwd: "/",
			// A bare one: etcd takes flags from ETCD_*.
			env: { ETCD_UNSUPPORTED_ARCH: process.arch },
			stdio: ["ignore", "ignore", "pipe"],
		});
		folder.guards(this.child.pid);
		this.child.on("error", (error) => {
			this.problem = error.message;
		});
		this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
			const lines = (this.stderr + text).split("\n");
			this.stderr = lines.slice(-LAST_LINES - 1).join("\n");
		});
	}

	/** @throws Error where it has ended: the pid may be another process's by now. */
	get pid(): number {
		const { pid } = this.child;
		if (pid === undefined || this.hasEnded)
			throw new Error("this etcd does not run");
		return pid;
	}

	get hasEnded(): boolean {
		const { exitCode, signalCode } = this.child;
		return (
			this.problem !== undefined || exitCode !== null || signalCode !== null
		);
	}

	get couldNotBind(): boolean {
		return this.stderr.includes("address already in use");
	}

	/** Why it ended, with the last lines that it wrote. */
	get lastWords(): string {
		const { exitCode, signalCode } = this.child;
		const end = this.problem ?? signalCode ?? `exit code ${exitCode}`;
		return `etcd ended: ${end}\n${this.stderr}`;
	}

	/** SIGSTOP; when it returns, no thread runs any more. */
	suspend(): void {
		process.kill(this.pid, "SIGSTOP");
		for (let turn = 0; turn < MOST_TURNS && !standsStill(this.pid); turn++);
	}

	resume(): void {
		process.kill(this.pid, "SIGCONT");
	}

	/** SIGKILL; resolves when it is gone. */
	async kill(): Promise<void> {
		if (!this.hasEnded) {
			this.child.kill("SIGKILL");
			await once(this.child, "exit");
		}
		this.folder.guards();
	}
}

/** True where the kernel does not say. */
function standsStill(pid: number): boolean {
	const folder = `/proc/${pid}/task`;
	if (!existsSync(folder)) return true;
	try {
		return readdirSync(folder).every((thread) =>
			/\) [TZX]/.test(readFileSync(join(folder, thread, "stat"), "utf8")),
		);
	} catch {
		// A thread ended meanwhile.
		return false;
	}
}

function dataRoot(): string {
	try {
		const { bavail, bsize } = statfsSync(IN_MEMORY);
		if (bavail * bsize >= ROOM_BYTES) return IN_MEMORY;
	} catch {
		// Not on this system.
	}
	return tmpdir();
}
