// The main job on this machine: four workers train a network on handwritten
// digits, two of them are killed on the way, and the result is that of a
// training run that nobody disturbed. Exits with 0 only if that is so.
//
//   npm run demo
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { judge, print } from "./demo-stage.js";
import { Story } from "./demo-story.js";

const COMMAND = fileURLToPath(
	new URL("../dist/bin/elastic-run.js", import.meta.url),
);
const TRAINER = fileURLToPath(new URL("train.js", import.meta.url));
const STEPS = 600;
const LEAST_ACCURACY = 0.9;
const LARGEST_DIFFERENCE = 0.005;

/** Who is killed, and when: as soon as rank 0 tells of this step. */
const KILLS = [
	{ rank: 2, atStep: 200 },
	{ rank: 0, atStep: 400 },
];

const folder = mkdtempSync(join(tmpdir(), "elastic-run-demo-"));
try {
	process.exitCode = await demo();
} finally {
	rmSync(folder, { recursive: true, force: true });
}

async function demo() {
	print("Handwritten digits, trained by one process that nobody disturbs:\n");
	const calm = await train("calm", 1, []);
	print(`\nThe same by four, with two kills (kill -9) on the way:\n`);
	const rough = await train("rough", 4, KILLS);
	return tellWhatCame(calm, rough);
}

/** Runs the example under elastic-run and tells what happens as it happens. */
async function train(name, workers, kills) {
	const child = spawn(
		process.execPath,
		[
			COMMAND,
			...["--nproc-per-node", String(workers), "--run-id", name],
			...["--log-dir", join(folder, "logs"), "--log-format", "json"],
			// biome-ignore lint/suspicious/noTemplateCurlyInString: the launcher fills it in
			...["--output", "json", "--log-prefix", "rank ${rank}: "],
			...[TRAINER, "--steps", String(STEPS)],
			...["--checkpoint-dir", join(folder, name)],
		],
		{ stdio: ["ignore", "pipe", "pipe"] },
	);
	const story = new Story(kills, print);
	const lines = createInterface({ input: child.stderr });
	lines.on("line", (line) => story.tell(line));
	let output = "";
	child.stdout.setEncoding("utf8").on("data", (text) => {
		output += text;
	});
	const exitCode = await new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", resolve);
	});
	const report = exitCode === 0 ? JSON.parse(output) : undefined;
	return { exitCode, report, ...story.results };
}

/** Prints what came of it; the exit code. */
function tellWhatCame(calm, rough) {
	const difference = Math.abs(calm.accuracy - rough.accuracy);
	const checks = [
		["both runs succeeded", calm.exitCode === 0 && rough.exitCode === 0],
		[
			`${rough.recoveries.length} of ${KILLS.length} kills survived, in rounds ${rough.report?.rounds.map(({ round }) => round).join(", ")}`,
			rough.recoveries.length === KILLS.length &&
				rough.report?.rounds.length === KILLS.length + 1 &&
				rough.report.restarts.used === KILLS.length,
		],
		[
			`accuracy ${rough.accuracy} with kills, ${calm.accuracy} without`,
			Math.min(rough.accuracy, calm.accuracy) >= LEAST_ACCURACY &&
				difference <= LARGEST_DIFFERENCE,
		],
	];
	print("");
	for (const { rank, startedMs, trainedMs } of rough.recoveries) {
		print(
			`death of rank ${rank}: all workers started again after ${startedMs.toFixed(0)} ms, training again after ${trainedMs.toFixed(0)} ms`,
		);
	}
	return judge(checks);
}
