// A worker that lives through rounds: it appends to FILE, in the form of worker.c,
// "start", for each PAUSE "pause" with the milliseconds since the agent wrote it,
// and "work" when waitForWork has given it its place in the next round.
// It ends with 0 at SIGUSR2. Usage: worker.js FILE
import { appendFileSync } from "node:fs";
import { getWorkerInfo, onWorkerEvent, waitForWork } from "elastic-run/runtime";

const [file] = process.argv.slice(2);
process.once("SIGUSR2", () => process.exit(0));
// None outlives a bench that was interrupted by more than this.
setTimeout(() => process.exit(1), 180_000);

mark("start", getWorkerInfo());
onWorkerEvent(({ kind, timestamp, round, workerInfo }) => {
	if (kind !== "PAUSE") return;
	mark("pause", workerInfo, wallTime() - timestamp);
	void takeWork(round);
});

async function takeWork(afterRound) {
	mark("work", await waitForWork({ afterRound }));
}

function mark(event, { rank, worldSize }, figure = 0) {
	const nanoseconds = BigInt(Math.round(wallTime() * 1e3)) * 1_000n;
	appendFileSync(
		file,
		`${event} ${nanoseconds} ${process.pid} ${rank} ${worldSize} ${figure.toFixed(3)}\n`,
	);
}

/** Milliseconds since 1970, with their fractions. */
function wallTime() {
	return performance.timeOrigin + performance.now();
}
