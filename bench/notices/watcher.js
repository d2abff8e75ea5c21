// A worker that looks for notices all the time and is never ready to end: it marks "start", "notice" and, when a notice
// is withdrawn, "stay". It ends with 0 at SIGUSR2. Usage: watcher.js FILE
import { getWorkerInfo, preemption } from "elastic-run/runtime";
import { mark } from "./mark.js";

const LOOK_EVERY_MS = 2;
const [file] = process.argv.slice(2);
process.once("SIGUSR2", () => process.exit(0));
setTimeout(() => process.exit(1), 600_000);

const place = getWorkerInfo();
mark(file, "start", place);
let isGoing = false;
setInterval(() => {
	const now = preemption() !== null;
	if (now === isGoing) return;
	isGoing = now;
	mark(file, now ? "notice" : "stay", place);
}, LOOK_EVERY_MS);
