#!/usr/bin/env node
// The door. It keeps to what old versions of Node can read, so that they can say that they are too old.
import { setFlagsFromString } from "node:v8";

const OLDEST_MAJOR = 20;
const OLDEST_MINOR = 19;

const version = process.versions.node;
const [major, minor] = version.split(".").map(Number);

if (
	Number(major) < OLDEST_MAJOR ||
	(Number(major) === OLDEST_MAJOR && Number(minor) < OLDEST_MINOR)
) {
	refuse(
		`Node >= ${OLDEST_MAJOR}.${OLDEST_MINOR} is needed (this is ${version}); install a newer one`,
	);
} else if (process.platform === "win32") {
	refuse("Windows is not supported; use Linux, for example under WSL");
} else {
	// A young generation that stays small: 9 MB less to hold, and less that each fork makes
	// slow to write to. Set before the modules fill it (decision 37).
	setFlagsFromString("--semi-space-growth-factor=1");
	import("./main.js").then((main) => main.main(process.argv.slice(2)));
}

function refuse(message: string): void {
	process.stderr.write(`elastic-run: ${message}\n`);
	process.exitCode = 2;
}
