// Tries this package under other versions of Node: `node scripts/node-matrix.js 22 24`.
// Each is installed from npm into a temporary folder, outside of the dependencies.
// Exits with 1 where a check fails, after all of them were made.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const LAUNCHER = "dist/bin/elastic-run.js";
/** From here on Node runs TypeScript without a flag. */
const OLDEST_WITH_TYPES = [22, 18];

const versions = process.argv.slice(2);
if (versions.length === 0) versions.push("22", "24");

const folder = mkdtempSync(join(tmpdir(), "elastic-run-node-matrix-"));
try {
	run(process.execPath, ["scripts/build.js"]);
	const rows = versions.flatMap((version) => checkUnder(install(version)));
	console.table(rows);
	process.exitCode = rows.some(({ result }) => result === "red") ? 1 : 0;
} finally {
	rmSync(folder, { recursive: true, force: true });
}

/** Returns the path of this version's program. */
function install(version) {
	const prefix = join(folder, version);
	run("npm", [
		...["install", "--prefix", prefix, `node@${version}`],
		...["--no-audit", "--no-fund", "--loglevel=error"],
	]);
	return join(prefix, "node_modules/.bin/node");
}

function checkUnder(node) {
	const version = run(node, ["--version"]).trim().slice(1);
	return checksFor(node, version).map(({ check, args, skipped }) => {
		if (skipped) return { node: version, check, result: "skipped", seconds: 0 };
		console.log(`${version}: ${check}`);
		const startedAt = performance.now();
		const { status, stdout, stderr } = start(node, args);
		const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
		if (status !== 0) console.log(`${stdout}${stderr}`);
		const result = status === 0 ? "green" : "red";
		return { node: version, check, result, seconds };
	});
}

function checksFor(node, version) {
	const vitest = (project) => ({
		check: `${project} tests`,
		args: ["node_modules/vitest/vitest.mjs", "run", "--project", project],
	});
	const worker = (...words) => [
		...[LAUNCHER, "--max-restarts", "0", "--log-dir", join(folder, "logs")],
		...["--nproc-per-node", "2", ...words],
	];
	const asks =
		"const { rank, worldSize } = getWorkerInfo(); if (!(rank < worldSize)) process.exit(9);";
	return [
		...["unit", "contract", "scenarios"].map(vitest),
		{ check: "demo", args: ["examples/demo.js"] },
		{
			check: "runtime library, ESM",
			args: worker(
				...[node, "--input-type=module", "-e"],
				`import { getWorkerInfo } from "elastic-run/runtime"; ${asks}`,
			),
		},
		{
			check: "runtime library, CommonJS",
			args: worker(
				...[node, "--input-type=commonjs", "-e"],
				`const { getWorkerInfo } = require("elastic-run/runtime"); ${asks}`,
			),
		},
		{
			check: "TypeScript worker without tsx",
			args: worker(typedWorker()),
			skipped: !isAtLeast(version, OLDEST_WITH_TYPES),
		},
		{ check: "doctor", args: [LAUNCHER, "doctor", "--nproc-per-node", "1"] },
	];
}

/** Outside of this package, where no tsx can be found. */
function typedWorker() {
	const file = join(folder, "worker.ts");
	writeFileSync(
		file,
		"const rank: number = Number(process.env.RANK);\nif (!(rank < 2)) process.exit(9);\n",
	);
	return file;
}

function isAtLeast(version, [oldestMajor, oldestMinor]) {
	const [major = 0, minor = 0] = version.split(".").map(Number);
	return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/** Returns what it prints. */
function run(program, args) {
	const { status, stdout, stderr } = start(program, args);
	if (status === 0) return stdout;
	throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`);
}

function start(program, args) {
	return spawnSync(program, args, {
		cwd: root,
		encoding: "utf8",
		maxBuffer: 2 ** 28,
	});
}
