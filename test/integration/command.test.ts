import { execFileSync, spawnSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { COMMANDS } from "../../bin/commands.js";
import { ALL_OPTIONS } from "../../src/config/options.js";
import { CLI, runCli } from "../helpers/cli.js";
import { cliHost } from "../helpers/cli-host.js";
import { ROOT } from "../helpers/import-graph.js";
import { temporaryFolder } from "../helpers/processes.js";

const { path: cwd, remove } = temporaryFolder();
afterAll(remove);
mkdirSync(join(cwd, "channels"));
const runLine = cliHost();

/** Of a terminal that nobody has made wider. */
const WIDTH = 80;

function expectNarrow(text: string): void {
	const wide = text.split("\n").filter((line) => line.length > WIDTH);
	expect(wide).toEqual([]);
}

it("C10 --help has 30 lines; help all shows each command, and each flag once with its default, in groups of 80 columns", async () => {
	const short = await runLine(["--help"], { cwd });
	expect([short.exitCode, short.stderr]).toEqual([0, ""]);
	expectNarrow(short.stdout);
	expect(short.stdout.split("\n").length).toBeLessThanOrEqual(31);
	const { stdout, stderr, exitCode } = await runCli(["help", "all"], { cwd });
	expect([exitCode, stderr]).toEqual([0, ""]);
	expectNarrow(stdout);
	const words = stdout.replaceAll(/\s+/g, " ");
	for (const option of ALL_OPTIONS) {
		const argument = option.argument ? ` <${option.argument}>` : "";
		const shown = ` --${option.name}${argument} ${option.help}`;
		expect(words.split(shown), option.name).toHaveLength(2);
		for (const name of option.variables) expect(words).not.toContain(name);
		if (option.defaultHelp !== undefined && option.argument !== undefined) {
			expect(words).toContain(`(default: ${option.defaultHelp})`);
		}
	}
	const common = /Common options:\n(.*?)\n\n/s.exec(stdout)?.[1] ?? "";
	expect(common.match(/--[a-z-]+(?= <)/g)).toEqual([
		...["--nproc-per-node", "--nnodes", "--rdzv-endpoint"],
		...["--max-restarts", "--log-dir"],
	]);
	const commands = /Commands, .*?:\n(.*?)\n\n/s.exec(stdout)?.[1] ?? "";
	expect(commands.match(/(?<=^ {2})\S+/gm)).toEqual(Object.keys(COMMANDS));
	const beside = await runLine(["--nosuch", "-h"], { cwd });
	expect(beside.stdout).toBe(short.stdout);

	const examples = stdout
		.split("\n")
		.filter((line) => line.startsWith("  elastic-run "));
	expect(examples).toHaveLength(3);
	symlinkSync(CLI, join(cwd, "elastic-run"));
	const PATH = [cwd, process.env.PATH].join(delimiter);
	const env = { ...process.env, PATH, ELASTIC_RUN_DRY_RUN: "1" };
	for (const example of examples) {
		execFileSync("sh", ["-c", example], { cwd, env });
	}
});

it("each command has a help of its own", async () => {
	for (const word of Object.keys(COMMANDS)) {
		if (["run", "help", "version"].includes(word)) continue;
		const { exitCode, stdout, stderr } = await runLine([word, "--help"], {
			cwd,
		});
		expect([exitCode, stderr]).toEqual([0, ""]);
		expect(stdout.startsWith(`Usage: elastic-run ${word}`)).toBe(true);
		expectNarrow(stdout);
	}
});

it("--version; on a full disk commands fail and say so, and a launch keeps the run's exit code", async (context) => {
	const manifest = readFileSync(join(ROOT, "package.json"), "utf8");
	const { version } = JSON.parse(manifest);
	expect(await runCli(["--version"], { cwd })).toEqual({
		...{ exitCode: 0, stdout: `${version}\n`, stderr: "" },
	});
	context.skip(!existsSync("/dev/full"), "there is no /dev/full");
	const written = (target: string, args: readonly string[]) => {
		const words = ["-c", `"$@" ${target}`, "sh", process.execPath, CLI];
		return spawnSync("sh", [...words, ...args], { cwd, encoding: "utf8" });
	};
	for (const args of [
		["--version"],
		["--dry-run", "true"],
		["validate", "--output", "json"],
		["status", "--output", "json"],
	]) {
		const { status, stderr } = written(">/dev/full", args);
		const lost = stderr.split("\n").filter((line) => line.includes("stdout"));
		expect(lost).toEqual([
			expect.stringMatching(/^elastic-run: cannot write to stdout: ENOSPC/),
		]);
		expect(status).toBe(1);
	}
	const launched = written(">/dev/full", ["--output", "json", "true"]);
	expect(launched.stderr).toContain("cannot write to stdout");
	expect(launched.status).toBe(0);
	const { stdout, stderr } = written("| exec true; echo $?", ["--help"]);
	expect([stdout, stderr]).toEqual(["0\n", ""]);
});

/** A module that has Node write each module's address to stderr as it is loaded. */
const hooks = `
	import { writeSync } from "node:fs";
	export async function resolve(specifier, context, next) {
		const resolved = await next(specifier, context);
		writeSync(2, "loaded " + resolved.url + "\\n");
		return resolved;
	}`;
const asUrl = (source: string) =>
	`data:text/javascript,${encodeURIComponent(source)}`;
const watchLoading = asUrl(
	`import { register } from "node:module"; register(${JSON.stringify(asUrl(hooks))});`,
);

/** The source files of which a built file is made, as it names them itself. */
function sourcesOf(built: string): readonly string[] {
	const named = readFileSync(built, "utf8").matchAll(
		/^\/\/ ((?:bin|src)\/.*)$/gm,
	);
	return [...named].map(([, source = ""]) => source);
}

it("--help loads no package but commander, and of the agent its options and what keeps a terminal clean", async () => {
	const { stderr } = await runCli(["--help"], {
		cwd,
		nodeArgs: ["--import", watchLoading],
	});
	const modules = stderr.matchAll(
		/^loaded file:\/\/(.*\/(node_modules|dist)\/(.*))$/gm,
	);
	const places = [...modules].flatMap(([, file = "", root, path = ""]) =>
		root === "dist"
			? sourcesOf(file).map(dirname)
			: path.split("/").slice(0, 1),
	);
	expect([...new Set(places)].sort()).toEqual([
		"bin",
		"bin/commands",
		"commander",
		"src/base",
		"src/config",
		"src/config/options",
		"src/config/parse",
		"src/logs",
		"src/policies",
		"src/policies/rules",
	]);
});

/** Nothing of a run may remain outside of the folder. */
const OPTIONS = {
	cwd,
	env: {
		ELASTIC_RUN_LOG_DIR: "logs",
		ELASTIC_RUN_DIR: join(cwd, "channels"),
	},
};

it("flags, environment and config file reach the run, and the worker's arguments are its own", async () => {
	const text = "role: from-file\nlogPrefix: '$" + "{role}:'\n";
	writeFileSync(join(cwd, "x.yaml"), text);
	const result = await runCli(
		[
			...["--config", "x.yaml", "--nproc-per-node", "2"],
			...["sh", "-c", 'echo "$RANK $ROLE_NAME $1"', "-", "-h"],
		],
		OPTIONS,
	);
	expect(result.exitCode).toBe(0);
	expect(result.stdout.split("\n").sort()).toEqual([
		...["", "from-file:0 from-file -h", "from-file:1 from-file -h"],
	]);
	expect(existsSync(join(cwd, "logs"))).toBe(true);
});

it("what nobody expected is reported as a bug: 70", async () => {
	writeFileSync(
		join(cwd, "crash.mjs"),
		`const decide = () => {
			process.nextTick(() => { throw new Error("boom"); });
			return { workers: "restart", charge: "nothing", reason: "" };
		};
		export default { name: "mine", onScaleUp: decide, onScaleDown: decide, onWorkerFailure: decide };`,
	);
	const env = { ...OPTIONS.env, ELASTIC_RUN_DEBUG: "1" };
	const args = ["--restart-policy", "./crash.mjs", "false"];
	const { exitCode, stderr } = await runCli(args, { cwd, env });
	expect(exitCode).toBe(70);
	expect(stderr).toContain("elastic-run: internal error: boom");
	expect(stderr).toMatch(/^elastic-run: {5}at .*crash.mjs:\d+/m);
});
