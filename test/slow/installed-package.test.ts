import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it, type TestContext } from "vitest";
import { ROOT } from "../helpers/import-graph.js";
import { temporaryFolder } from "../helpers/processes.js";

const LIMIT_MS = 300_000;
const run = promisify(execFile);
const { path: folder, remove } = temporaryFolder();
const project = join(folder, "project");
const prefix = join(folder, "global");
const scripts = join(folder, "scripts");
const runDirectory = join(folder, "run");

/** Why npm could not install the tarball's dependencies; undefined where it did. */
let problem: string | undefined;

beforeAll(async () => {
	for (const directory of [project, prefix, scripts, runDirectory]) {
		mkdirSync(directory, { mode: 0o700 });
	}
	writeFileSync(join(project, "package.json"), '{ "type": "module" }');
	await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], {
		cwd: ROOT,
	});
	const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
	const install = ["install", "--prefer-offline", "--no-audit", "--no-fund"];
	const inPrefix = ["-g", "--prefix", prefix];
	try {
		// Most of it is waiting for the registry.
		await Promise.all([
			run("npm", [...install, `../${tarball}`], { cwd: project }),
			run("npm", [...install, ...inPrefix, `./${tarball}`], { cwd: folder }),
		]);
	} catch (error) {
		const words = String(error);
		if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|network/.test(words)) {
			throw error;
		}
		problem = "npm cannot reach its registry";
	}
}, LIMIT_MS);

afterAll(remove);

function needInstallation(context: TestContext): void {
	if (problem !== undefined) context.skip(problem);
}

/** Runs a program in a folder, with nothing of this checkout in its environment. */
async function inFolder(
	cwd: string,
	command: string,
	args: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Promise<string> {
	const { stdout } = await run(command, args, {
		cwd,
		env: {
			PATH: process.env.PATH,
			HOME: folder,
			ELASTIC_RUN_DIR: runDirectory,
			...env,
		},
	});
	return stdout;
}

it.concurrent(
	"an empty project runs the examples of the installed package",
	async (context) => {
		needInstallation(context);
		const hello = "node_modules/elastic-run/examples/hello.js";
		const args = ["elastic-run", "--nproc-per-node", "2", hello];
		const stdout = await inFolder(project, "npx", args);
		expect(stdout).toMatch(/rank 1 of 2/);
	},
	LIMIT_MS,
);

it.concurrent(
	"ESM, CommonJS and TypeScript import the installed package",
	async (context) => {
		needInstallation(context);
		const uses = "console.log(typeof getWorkerInfo, typeof openCheckpoints);";
		const names = ["getWorkerInfo", "openCheckpoints"];
		const places = ["elastic-run/runtime", "elastic-run/checkpoint"];
		const imports = (line: (name: string, place: string) => string) =>
			names.map((name, index) => line(name, places[index] ?? "")).join("\n");
		const files = {
			"a.mjs": imports((name, place) => `import { ${name} } from "${place}";`),
			"b.cjs": imports(
				(name, place) => `const { ${name} } = require("${place}");`,
			),
		};
		for (const [name, text] of Object.entries(files)) {
			writeFileSync(join(project, name), `${text}\n${uses}\n`);
			const stdout = await inFolder(project, process.execPath, [name]);
			expect(stdout).toBe("function function\n");
		}
		writeFileSync(join(project, "c.ts"), TYPED_TRAINER);
		const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
		const flags = ["--noEmit", "--strict", "--module", "nodenext"];
		await inFolder(project, process.execPath, [
			...[tsc, ...flags, "--skipLibCheck", "c.ts"],
		]);
	},
	LIMIT_MS,
);

const TYPED_TRAINER = `
import { launchAgent, RestartPolicy, type LaunchConfig } from "elastic-run";
import { openCheckpoints } from "elastic-run/checkpoint";
import { getWorkerInfo } from "elastic-run/runtime";

const rank: number = getWorkerInfo().rank;
const step: number = openCheckpoints({ directory: "x" }).loadLatest()?.state.step ?? 0;
const config: LaunchConfig = { script: "c.js", restartPolicy: RestartPolicy.SOFT };
export const all = [rank, step, launchAgent(config)];
`;

it.concurrent(
	"workers of a global installation find the runtime library, in Node and in Python",
	async (context) => {
		needInstallation(context);
		const command = join(prefix, "bin/elastic-run");
		writeFileSync(
			join(scripts, "a.mjs"),
			'import { getWorkerInfo } from "elastic-run/runtime"; console.log("rank", getWorkerInfo().rank);',
		);
		writeFileSync(
			join(scripts, "a.py"),
			'import elastic_run; print("rank", elastic_run.get_worker_info().rank)',
		);
		await Promise.all(
			["a.mjs", "a.py"].map(async (name) => {
				const stdout = await inFolder(scripts, command, [name]);
				expect(stdout).toMatch(/rank 0$/m);
			}),
		);
	},
	LIMIT_MS,
);
