// A worker that saves for a moment at a notice, and is then ready to end. It marks "start", and ends with 0 at SIGUSR2.
// Usage: saver.js FILE
import { setTimeout as sleep } from "node:timers/promises";
import { getWorkerInfo, onPreemption } from "elastic-run/runtime";
import { mark } from "./mark.js";

const SAVE_MS = 100;
const [file] = process.argv.slice(2);
process.once("SIGUSR2", () => process.exit(0));
setTimeout(() => process.exit(1), 600_000);

onPreemption(() => sleep(SAVE_MS));
mark(file, "start", getWorkerInfo());
