import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerProcess } from "../../src/agent/workers/worker-process.js";
import { readProcess } from "../../src/base/process-stat.js";
import { channelPaths, hookPaths } from "../../src/channel/layout.js";
import { HeldFile } from "../../src/logs/held-file.js";
import { signalGroup } from "../../src/processes/process-group.js";
import { temporaryFolder, textIn, waitFor } from "./processes.js";
import { onTestFinished } from "./this-test.js";

/** SIGUSR1 on Linux. */
const ASKED_BY = 10;

/**
 * Its log says when it is asked for its stack. It writes it as Python's faulthandler does, and then computes. So a
 * later look finds it busy.
 */
const SCRIPT = `
answer() {
	echo "I was asked" >> "$1/log"
	printf '  File "/job/train.py", line 41 in load_batch\\n  File "/job/train.py", line 60 in <module>\\n' >> "$1/hook/stack.txt"
	while :; do :; done
}
trap 'answer "$1"' USR1
echo "step 7" >> "$1/log"
sleep 1000 &
echo $! > "$1/sleeper"
wait`;

/** Not one that is still being loaded. */
function sleeps(pid: number): boolean {
	return (
		readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n" &&
		readProcess(pid)?.state === "S"
	);
}

interface SilentWorker {
	readonly process: WorkerProcess;
	readonly outputs: readonly { name: string; file: HeldFile }[];
	/** Where its stack comes to lie. */
	readonly stack: string;
	/** Says where torch's own server in it listens. */
	readonly listensAt: (torchSocket: string) => void;
}

/** Starts a worker of rank 3 that makes no step and has a hook. It ends with the test. */
export async function silentWorker(): Promise<SilentWorker> {
	const { path: directory, remove } = temporaryFolder();
	const { hook } = channelPaths(directory);
	mkdirSync(hook);
	const shell = spawn("sh", ["-c", SCRIPT, "sh", directory], {
		...{ detached: true, stdio: "ignore" },
	});
	const { pid = 0 } = shell;
	onTestFinished(() => {
		if (pid > 0) signalGroup(pid, "SIGKILL");
		remove();
	});
	const sleeper = Number(await textIn(join(directory, "sleeper")));
	await waitFor("the worker", () => sleeps(sleeper));
	const { ready, stack } = hookPaths(hook);
	const says = (torchSocket: string | null) => {
		const about = { version: 1, kind: "python", pid, signal: ASKED_BY };
		const text = JSON.stringify({ ...about, torch_socket: torchSocket });
		writeFileSync(ready, text);
	};
	says(null);
	return {
		process: { localRank: 0, rank: 3, pid, directory, logs: undefined },
		outputs: [{ name: "stdout", file: new HeldFile(join(directory, "log")) }],
		stack,
		listensAt: says,
	};
}
