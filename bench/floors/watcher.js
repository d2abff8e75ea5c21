// Says "ready", and then of each file that comes into DIRECTORY, by its first
// event, how many milliseconds ago it was written; ends after COUNT files.
// Usage: watcher.js DIRECTORY COUNT
import { readFileSync, watch } from "node:fs";
import { join } from "node:path";

const [directory, count] = process.argv.slice(2);
const seen = new Set();
const watcher = watch(directory, (_, name) => {
	if (name === null || seen.has(name)) return;
	const now = performance.timeOrigin + performance.now();
	seen.add(name);
	console.log(now - Number(readFileSync(join(directory, name), "utf8")));
	if (seen.size === Number(count)) watcher.close();
});
console.log("ready");
