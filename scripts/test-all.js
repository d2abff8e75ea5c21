// Runs what `npm test` leaves out, in two vitest processes side by side: the slow tests, two files
// at a time, and those with real frameworks, one at a time, which compute and wait in turn.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const vitest = join(
	dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
	"vitest.mjs",
);

/** Runs one project's tests; resolves with the exit code once it has ended. */
function run(project) {
	const child = spawn(
		process.execPath,
		[
			vitest,
			"run",
			"--passWithNoTests",
			"--project",
			project,
			...process.argv.slice(2),
		],
		{ stdio: "inherit" },
	);
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("exit", (code, signal) => {
			console.log(`=== ${project} tests: ${signal ?? `exit code ${code}`}`);
			resolve(code ?? 1);
		});
	});
}

const codes = await Promise.all(["slow", "frameworks"].map(run));
process.exitCode = Math.max(...codes);
