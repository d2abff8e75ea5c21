// What people write by hand in Node: N workers with an environment and files,
// and all of them started again when one fails.
// Usage: by-hand.js DIRECTORY N PROGRAM [ARGUMENTS]
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";

const [directory, count, program, ...args] = process.argv.slice(2);
const running = new Set();
let restarts = 0;
let failed = false;

function start(rank) {
	const files = ["stdout", "stderr"].map((name) =>
		openSync(`${directory}/round-${restarts}-${rank}.${name}`, "a", 0o600),
	);
	const worker = spawn(program, args, {
		detached: true,
		stdio: ["ignore", ...files],
		env: {
			...process.env,
			RANK: String(rank),
			WORLD_SIZE: count,
			TORCHELASTIC_RESTART_COUNT: String(restarts),
		},
	});
	for (const file of files) closeSync(file);
	running.add(worker);
	worker.on("exit", (code) => ended(worker, code));
}

function startAll() {
	for (let rank = 0; rank < Number(count); rank += 1) start(rank);
}

function ended(worker, code) {
	running.delete(worker);
	if (code !== 0 && !failed) {
		failed = true;
		for (const other of running) process.kill(-other.pid, "SIGTERM");
	}
	if (running.size > 0 || !failed) return;
	failed = false;
	restarts += 1;
	startAll();
}

startAll();
