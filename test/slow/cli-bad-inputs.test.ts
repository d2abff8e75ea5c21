// The rules themselves are tables in test/unit/config: here is one line of each kind, as it reaches the terminal.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { EXIT_CODES } from "../../src/base/errors.js";
import { CLI, runCli } from "../helpers/cli.js";
import { cliHost } from "../helpers/cli-host.js";
import { temporaryFolder } from "../helpers/processes.js";

const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;

const folder = temporaryFolder();
const cwd = folder.path;
afterAll(() => folder.remove());
const runLine = cliHost();

const FILES = {
	"train.js": "",
	plain: "",
	"secret.py": "",
	"two.yaml": "tee: 1\n---\ntee: 2\n",
	"same.json": '{ "tee": 1,\n "tee": 2 }',
	"bad.yaml": "maxRestart: 3\nmaxRestarts: three\nnnodes: true\n",
	"waits.mjs": "await new Promise(() => {}); export default {};",
	"exits.mjs": "process.exit(0);",
};
for (const [name, text] of Object.entries(FILES)) {
	writeFileSync(join(cwd, name), text);
}
chmodSync(join(cwd, "secret.py"), 0o200);
mkdirSync(join(cwd, "src"));
mkdirSync(join(cwd, "foreign"));
chmodSync(join(cwd, "foreign"), 0o755);
chmodSync(cwd, 0o755);

/** A command line, with variables before it as a shell has them, and a part of each line that is said. */
type Row = readonly [line: string, ...said: string[]];

function parse(line: string) {
	const words = line.split(" ").filter((word) => word !== "");
	const first = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
	const pairs = words.splice(0, Math.max(first, 0));
	const env = Object.fromEntries(
		pairs.map((pair) => pair.split(/=(.*)/).slice(0, 2)),
	);
	return { args: words, env };
}

/** What was said, a line each, without the launcher's name. */
function linesOf(stderr: string): string[] {
	const lines = stderr.split("\n").slice(0, -1);
	for (const line of lines) expect(line).toMatch(/^elastic-run: /);
	return lines.map((line) => line.replace("elastic-run: ", ""));
}

function expectRefusal(
	{ exitCode, stdout, stderr }: Awaited<ReturnType<typeof runCli>>,
	code: number,
	said: readonly string[],
): void {
	expect(linesOf(stderr)).toEqual(
		said.map((part) => expect.stringContaining(part)),
	);
	expect([exitCode, stdout]).toEqual([code, ""]);
	expect(existsSync(join(cwd, "started"))).toBe(false);
}

const REFUSED: readonly Row[] = [
	["--nnodes 1", "no command given; give a script"],
	["src", "is no command of elastic-run and no file here, but a directory; "],
	["plain", "to run the file here, use: elastic-run ./plain; "],
	["barrier", "--probe-port is missing", "needs a name: --run-id"],
	["--xyzzy 4 touch started", "unknown option --xyzzy; see --help"],
	[
		"--max-restarts -1 touch started",
		"or one in a time, for example 3 or 3/6h",
	],
	[
		"--rdzv-endpoint http://u:p@h:2379 touch started",
		"credentials in it are visible to other users",
	],
	[
		"--rdzv-conf username=u,password=hunter2 touch started",
		"a password in it is visible to other users of this machine; use password_file=FILE",
	],
	[
		"ELASTIC_RUN_RDZV_PASSWORD=hunter2 --rdzv-endpoint h:1 touch started",
		"ELASTIC_RUN_RDZV_PASSWORD: whose password it is, is missing;",
	],
	["--run-id ../x touch started", '"../x" is not valid; use letters, digits'],
	// A name reaches the terminal without C1 controls, and without what turns its direction.
	[
		"--config no\u009b31m\u202esuch\u2066.yaml touch started",
		"--config no31msuch.yaml: no such file",
	],
	[
		"--config same.json touch started",
		"same.json:2:2: Map keys must be unique",
	],
	["--config two.yaml touch started", "two.yaml:2:1: a second document begins"],
	["--log-dir /proc/x touch started", "it cannot be created there (ENOENT"],
	["--rdzv-backend etcd-v2 touch started", "use etcd with --rdzv-endpoint"],
	["--numa-binding node touch started", "numactl"],
];

describe("bad input", () => {
	test.each(REFUSED)("elastic-run %s", async (line, ...said) => {
		const { args, env } = parse(line);
		expectRefusal(await runLine(args, { cwd, env }), 2, said);
	});

	/** Each in a process of its own, some of which it ends itself. */
	const ALONE: readonly (readonly [code: number, ...Row])[] = [
		[2, "", "no command given; give a script"],
		[127, "nosuch.js", 'script "nosuch.js" not found (looked in /'],
		[127, "nosuch-command x", 'command "nosuch-command" not found on PATH'],
		[127, "--tee 0 status", 'command "status" not found'],
		[2, "statsu train", '"statsu" not found; did you mean the command status?'],
		[126, "./plain", '"./plain" is not executable; use chmod +x'],
		[2, "--nproc-per-noed 4 touch started", "did you mean --nproc-per-node?"],
		[2, "--restart-policy waits.mjs touch started", "ended before it was done"],
		[2, "--restart-policy exits.mjs touch started", "ended before it was done"],
		[
			2,
			"--config bad.yaml touch started",
			"bad.yaml: maxRestart: is not known here; did you mean maxRestarts?",
			"bad.yaml: nnodes: expected a number or a text, got true",
			'bad.yaml: maxRestarts: "three" is not valid; use a number of restarts',
		],
		[
			2,
			"ELASTIC_RUN_NPROC=4 --tee x touch started",
			"warning: environment ELASTIC_RUN_NPROC is not known and has no effect; did you mean ELASTIC_RUN_NPROC_PER_NODE?",
			'--tee: "x"',
		],
		[4, "history x", "no run x runs on this machine, and no etcd answered"],
	];
	test.for(ALONE)("%i: elastic-run %s", async ([code, line, ...said]) => {
		const { args, env } = parse(line);
		expectRefusal(await runCli(args, { cwd, env }), code, said);
	});

	test.runIf(IS_ROOT).each([
		[126, "secret.py", "cannot read secret.py: permission denied"],
		[2, "--log-dir foreign/logs touch started", "permission denied in /"],
	] as const)(
		"%i, of a user without rights: elastic-run %s",
		async (code, line, said) => {
			const options = { cwd, uid: NOBODY };
			expectRefusal(await runCli(line.split(" "), options), code, [said]);
		},
	);

	/** Runs the command behind a line of shell. */
	const behind = (line: string, args: readonly string[]) => {
		const words = ["-c", `${line} && exec "$@"`, "sh", process.execPath, CLI];
		return spawnSync("sh", [...words, ...args], { cwd, encoding: "utf8" });
	};

	test.each([
		["status", "--output", "json"],
		["validate"],
		["touch", "started"],
	])("a working directory that is gone: %s %s", async (...args) => {
		const gone = "mkdir gone && cd gone && rmdir ../gone";
		const { status, stderr } = behind(gone, args);
		expect(linesOf(stderr)).toEqual([
			expect.stringMatching(/^the working directory no longer exists/),
		]);
		expect(status).toBe(2);
	});

	// Node itself reads the command with 19 of them, and its modules with some more.
	test.each([19, 22, 32, 40])("%i open files are too few", (most) => {
		const args = ["--nproc-per-node", "8", "touch", "started"];
		const { status, stderr } = behind(`ulimit -n ${most}`, args);
		expect(linesOf(stderr)).toEqual([
			expect.stringMatching(
				/EMFILE.*; the limit of open files \(ulimit -n\) is too low: raise it, for example with ulimit -n 4096$/,
			),
		]);
		expect(status).toBe(75);
	});

	test("a Node that is too old", async () => {
		const pretend = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.4"}})`;
		const nodeArgs = ["--import", pretend];
		expect(await runCli(["--help"], { cwd, nodeArgs })).toEqual({
			exitCode: 2,
			stdout: "",
			stderr:
				"elastic-run: Node >= 20.19 is needed (this is 18.20.4); install a newer one\n",
		});
	});

	test("a flag after the script is noted", async () => {
		const args = ["--dry-run", "train.js", "--nproc_per_node", "4"];
		const { exitCode, stderr } = await runCli(args, { cwd });
		expect(linesOf(stderr)).toEqual([
			'note: "--nproc_per_node 4" follows the script and is passed to it; put it before train.js if it is meant for elastic-run',
		]);
		expect(exitCode).toBe(0);
	});
});

describe("a single word", () => {
	test.each([
		["ps", "elastic-run help all lists the commands;"],
		["stauts", "did you mean elastic-run status?"],
	])("%s runs no program of the system", async (word, hint) => {
		const said = `"${word}" is no command of elastic-run and no file here; ${hint} to run the program ${word}, use: elastic-run run ${word}`;
		expectRefusal(await runLine([word], { cwd }), 2, [said]);
	});

	test("that is a file here neither runs it nor a program of the system", async () => {
		writeFileSync(join(cwd, "pwd"), "", { mode: 0o755 });
		expectRefusal(await runCli(["pwd"], { cwd }), 2, [
			'"pwd" is no command of elastic-run; elastic-run help all lists the commands; to run the file here, use: elastic-run ./pwd; to run the program pwd, use: elastic-run run pwd',
		]);
	});

	test.each([
		["run true"],
		["--tee 0 true"],
		["true now"],
		["/bin/true"],
	])("is a program in %s", async (line) => {
		const { exitCode } = await runCli(line.split(" "), { cwd });
		expect(exitCode).toBe(0);
	});

	test.each([
		["a pipe", "seq 5 | $LAUNCHER cat"],
		["a file", "seq 5 > five; $LAUNCHER cat < five"],
	])("that reads %s is a program", (_, command) => {
		const LAUNCHER = `${process.execPath} ${CLI}`;
		const script = command.replace("$LAUNCHER", LAUNCHER);
		const { status, stderr } = spawnSync("sh", ["-c", script], {
			cwd,
			encoding: "utf8",
		});
		expect(stderr).not.toContain("is no command");
		expect(status).toBe(0);
	});

	test("help, version and -V answer as their flags do", async () => {
		const run = (line: string) => runLine(line.split(" "), { cwd });
		const flag = await run("--help");
		for (const line of ["help", "help run", "run --help"]) {
			expect(await run(line)).toEqual(flag);
		}
		expect(await run("help status")).toEqual(await run("status --help"));
		expect((await run("help --rdzv_id")).stdout).toMatch(
			/--run-id <ID>.*ELASTIC_RUN_RUN_ID, ELASTIC_RUN_RDZV_ID.*runId, rdzvId/s,
		);
		const { stdout: codes } = await run("help exit-codes");
		for (const code of Object.values(EXIT_CODES)) {
			expect(codes).toMatch(new RegExp(`(^| )${code}(,| )`, "m"));
		}
		const version = await run("--version");
		expect(await run("version")).toEqual(version);
		expect(await run("-V")).toEqual(version);
		expectRefusal(await run("help stauts"), 2, [
			"did you mean elastic-run status?",
		]);
	});
});

// K8. Node cannot give a process such bytes either: the shell does.
describe("bytes that are not UTF-8", () => {
	const BYTES = `BAD="$(printf 'caf\\351')"`;
	const FIX = "is not UTF-8, and Node cannot pass on other bytes; ";

	const run = (line: string) => {
		const script = `${BYTES}; ${line.replace("$LAUNCHER", `exec ${process.execPath} ${CLI}`)}`;
		return spawnSync("sh", ["-c", script], { cwd, encoding: "utf8" });
	};

	test.each([
		["$LAUNCHER touch started $BAD", `argument 3 ${FIX}write it in UTF-8`],
		[
			"$LAUNCHER --log-dir $BAD touch started",
			`argument 2 ${FIX}write it in UTF-8`,
		],
		["$LAUNCHER stop $BAD", `argument 2 ${FIX}write it in UTF-8`],
		[
			"ELASTIC_RUN_LOG_DIR=$BAD $LAUNCHER touch started",
			`environment ELASTIC_RUN_LOG_DIR ${FIX}set it in UTF-8`,
		],
		[
			"mkdir $BAD; cd $BAD; $LAUNCHER touch started",
			"has a name that is not UTF-8; rename it, or start from another one",
		],
		[
			"echo logDir: $BAD > $BAD.yaml; mv $BAD.yaml bytes.yaml; $LAUNCHER --config bytes.yaml touch started",
			"bytes.yaml: it is not UTF-8; save it in UTF-8",
		],
	])("%s is refused in one line", (line, said) => {
		const { status, stdout, stderr } = run(line);
		expectRefusal({ exitCode: status, stdout, stderr }, 2, [said]);
	});

	test("in a variable of the workers are named, and the run goes on", () => {
		const { status, stdout, stderr } = run(
			`WORD=$BAD FINE=é $LAUNCHER sh -c 'printf %s "$WORD"'`,
		);
		expect(stderr.match(/warning: .*/g)).toEqual([
			"warning: environment WORD: not UTF-8, and Node cannot pass on other bytes; workers get U+FFFD in their place",
		]);
		expect([status, stdout]).toEqual([0, expect.stringContaining("caf\ufffd")]);
	});

	test("that stand for U+FFFD itself are UTF-8", () => {
		const { status, stderr } = run(
			"$LAUNCHER test \ufffd = \"$(printf '\\357\\277\\275')\"",
		);
		expect(stderr).not.toContain("UTF-8");
		expect(status).toBe(0);
	});
});
