// A worker that does nothing, and writes how much of a core that took, in percent:
// listening for events with the runtime library, or bare.
// Usage: idle.js FILE library|bare REST_SECONDS SECONDS
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [file, how, restSeconds, seconds] = process.argv.slice(2);
if (how === "library") {
	const { onWorkerEvent } = await import("elastic-run/runtime");
	onWorkerEvent(() => {});
}
await sleep(Number(restSeconds) * 1_000);
const before = process.cpuUsage();
const start = performance.now();
await sleep(Number(seconds) * 1_000);
const { user, system } = process.cpuUsage(before);
const used = (user + system) / 1_000;
writeFileSync(file, String((used / (performance.now() - start)) * 100));
