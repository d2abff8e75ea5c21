import { appendFileSync } from "node:fs";

/** Appends a mark in the form of worker.c. */
export function mark(file, event, { rank, worldSize }) {
	const microseconds = (performance.timeOrigin + performance.now()) * 1e3;
	const nanoseconds = BigInt(Math.round(microseconds)) * 1_000n;
	appendFileSync(
		file,
		`${event} ${nanoseconds} ${process.pid} ${rank} ${worldSize} 0\n`,
	);
}
