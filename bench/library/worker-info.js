// A worker that writes how long a call of getWorkerInfo() takes, in microseconds.
// Usage: worker-info.js FILE
import { writeFileSync } from "node:fs";
import { getWorkerInfo } from "../../dist/src/runtime/runtime.js";

const CALLS = 20_000;

for (let call = 0; call < CALLS; call += 1) getWorkerInfo();
const start = performance.now();
for (let call = 0; call < CALLS; call += 1) getWorkerInfo();
const microseconds = (performance.now() - start) * 1_000;
writeFileSync(process.argv[2], String(microseconds / CALLS));
