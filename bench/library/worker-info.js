// A worker that writes how long a call of getWorkerInfo() takes, in microseconds;
// or, beside it, a bare stat of the file that says whether anything has changed.
// Usage: worker-info.js FILE library|stat
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getWorkerInfo } from "elastic-run/runtime";

const CALLS = 20_000;

const [file, how] = process.argv.slice(2);
const newest = join(process.env.ELASTIC_RUN_CHANNEL ?? "", "latest.json");
const call = how === "library" ? getWorkerInfo : () => statSync(newest);
for (let count = 0; count < CALLS; count += 1) call();
const start = performance.now();
for (let count = 0; count < CALLS; count += 1) call();
const microseconds = (performance.now() - start) * 1_000;
writeFileSync(file, String(microseconds / CALLS));
