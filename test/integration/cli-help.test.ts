import { execFileSync, spawnSync } from "node:child_process";
import {
	existsSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../../bin/commands.js";
import { ALL_OPTIONS } from "../../src/config/options.js";
import { CLI, runCli } from "../helpers/cli.js";
import { cliHost } from "../helpers/cli-host.js";

const cwd = mkdtempSync(join(tmpdir(), "elastic-run-test-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
const runLine = cliHost();

/** Of a terminal that nobody has made wider. */
const WIDTH = 80;

const help = await runCli(["--help"], { cwd });

describe("--help", () => {
	test("fits 80 columns, on stdout", () => {
		expect(help.exitCode).toBe(0);
		expect(help.stderr).toBe("");
		const widths = help.stdout.split("\n").map((line) => line.length);
		expect(Math.max(...widths)).toBeLessThanOrEqual(WIDTH);
	});

	test.each(
		ALL_OPTIONS.map((option) => [option.name, option] as const),
	)("shows --%s once, and its default, without its variable", (_, option) => {
		const words = help.stdout.replaceAll(/\s+/g, " ");
		const argument = option.argument ? ` <${option.argument}>` : "";
		expect(
			words.split(` --${option.name}${argument} ${option.help}`),
		).toHaveLength(2);
		for (const name of option.variables) expect(words).not.toContain(name);
		if (option.defaultHelp !== undefined && option.argument !== undefined) {
			expect(words).toContain(`(default: ${option.defaultHelp})`);
		}
	});

	test("says first what it is, then the commands, five common flags, then the rest in groups", () => {
		const headings = help.stdout.match(/^[A-Z].*?[:.,]/gm);
		expect(headings).toEqual([
			"Usage:",
			"Starts the workers of a distributed job on this machine,",
			"Commands,",
			...["Common options:", "Workers:", "Rendezvous:", "Restarts:", "Nodes:"],
			...["Steps:", "Notices:"],
			...["Logs and output:", "Observability:", "Command:", "Examples:"],
			...["Precedence:", "Durations:"],
		]);
		const common = /Common options:\n(.*?)\n\n/s.exec(help.stdout)?.[1] ?? "";
		expect(common.match(/--[a-z-]+(?= <)/g)).toEqual([
			...["--nproc-per-node", "--nnodes", "--rdzv-endpoint"],
			...["--max-restarts", "--log-dir"],
		]);
	});

	test("names each command that there is", () => {
		const list = /Commands, .*?:\n(.*?)\n\n/s.exec(help.stdout)?.[1] ?? "";
		const names = list.match(/(?<=^ {2})\S+/gm);
		expect(names).toEqual(Object.keys(COMMANDS));
	});

	test("is the same for -h, also behind bad flags", async () => {
		const short = await runLine(["--nosuch", "-h"], { cwd });
		expect(short).toEqual(help);
	});

	test("has three examples that work as they stand", () => {
		const examples = help.stdout
			.split("\n")
			.filter((line) => line.startsWith("  elastic-run "));
		expect(examples).toHaveLength(3);
		symlinkSync(CLI, join(cwd, "elastic-run"));
		const PATH = [cwd, process.env.PATH].join(delimiter);
		for (const example of examples) {
			execFileSync("sh", ["-c", example], {
				cwd,
				env: { ...process.env, PATH, ELASTIC_RUN_DRY_RUN: "1" },
			});
		}
	});
});

test.each(
	Object.keys(COMMANDS).filter(
		(word) => !["run", "help", "version"].includes(word),
	),
)("%s --help fits 80 columns", async (word) => {
	const { exitCode, stdout, stderr } = await runLine([word, "--help"], { cwd });
	expect([exitCode, stderr]).toEqual([0, ""]);
	expect(stdout.startsWith(`Usage: elastic-run ${word}`)).toBe(true);
	const widths = stdout.split("\n").map((line) => line.length);
	expect(Math.max(...widths)).toBeLessThanOrEqual(WIDTH);
});

test("--version", async () => {
	const manifest = JSON.parse(
		readFileSync(
			fileURLToPath(new URL("../../package.json", import.meta.url)),
			"utf8",
		),
	);
	const result = await runCli(["--version"], { cwd });
	expect(result).toEqual({
		exitCode: 0,
		stdout: `${manifest.version}\n`,
		stderr: "",
	});
});

describe.runIf(existsSync("/dev/full"))("on a full disk", () => {
	const written = (target: string, args: readonly string[]) => {
		const command = [process.execPath, CLI, ...args];
		return spawnSync("sh", ["-c", `"$@" ${target}`, "sh", ...command], {
			cwd,
			encoding: "utf8",
		});
	};

	test.each([
		[["--help"]],
		[["--version"]],
		[["--dry-run", "true"]],
		[["validate", "--output", "json"]],
		[["doctor", "--nproc-per-node", "1"]],
		[["status", "--output", "json"]],
		[["status", "--help"]],
		[["python-path"]],
		[["clean", "--output", "json"]],
	])("%j fails and says so", (args) => {
		const { status, stderr } = written(">/dev/full", args);
		const lost = stderr.split("\n").filter((line) => line.includes("stdout"));
		expect(lost).toEqual([
			expect.stringMatching(/^elastic-run: cannot write to stdout: ENOSPC/),
		]);
		expect(status).toBe(1);
	});

	test("a launch keeps the run's exit code", () => {
		const launch = ["--output", "json", "true"];
		const { status, stderr } = written(">/dev/full", launch);
		expect(stderr).toContain("cannot write to stdout");
		expect(status).toBe(0);
	});

	test("a reader that has gone is no failure", () => {
		const { stdout, stderr } = written("| exec true; echo $?", ["--help"]);
		expect([stdout, stderr]).toEqual(["0\n", ""]);
	});
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

test("--help loads no package but commander, and of the agent its options and what keeps a terminal clean", async () => {
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

test("the time of --help is shown", () => {
	const timeMs = (args: readonly string[]) => {
		const start = performance.now();
		execFileSync(process.execPath, args);
		return Math.round(performance.now() - start);
	};
	const bareMs = timeMs(["-e", "0"]);
	const helpMs = timeMs([CLI, "--help"]);
	console.log(`node -e 0: ${bareMs} ms; elastic-run --help: ${helpMs} ms`);
	expect(helpMs).toBeGreaterThan(0);
});
