// The training of examples/train.js without its checkpoints. It notes when it has made its first step, and goes on until it
// is told to end.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { getWorkerInfo } from "elastic-run/runtime";
import { joinGroup, WorkerGoneError } from "../../examples/all-reduce.js";
import { firstState, Training } from "../../examples/training.js";

const marks = process.argv[2];
const { rank, worldSize, masterAddr, masterPort, round, restartCount } =
	getWorkerInfo();
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort(new Error("SIGTERM")));
const training = new Training(firstState(), 128);
try {
	const group = await joinGroup({
		...{ rank, worldSize, address: masterAddr, port: masterPort },
		token: [0, round],
		signal: stop.signal,
	});
	for (let step = 0; ; step += 1) {
		await training.step({ rank, worldSize }, group);
		if (step === 0) {
			const words = [restartCount, rank, process.pid, Date.now()];
			appendFileSync(join(marks, "marks"), `${words.join(" ")}\n`);
		}
		await group.sum(new Float64Array(1));
		await new Promise((resolve) => setTimeout(resolve, 20));
		stop.signal.throwIfAborted();
	}
} catch (error) {
	if (!stop.signal.aborted && !(error instanceof WorkerGoneError)) throw error;
	process.exit(1);
}
