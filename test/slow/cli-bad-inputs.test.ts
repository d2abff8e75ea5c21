import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ALL_OPTIONS } from "../../src/config/options.js";
import { CLI, runCli } from "../helpers/cli.js";
import { cliHost } from "../helpers/cli-host.js";
import { temporaryFolder } from "../helpers/processes.js";

const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;
const RUNS_TYPESCRIPT =
	"typescript" in process.features && Boolean(process.features.typescript);

const folder = temporaryFolder();
afterAll(() => folder.remove());
const runLine = cliHost();

// A command that would leave a trace if it were started.
const MARK = join(folder.path, "started");
const TOUCH = ["touch", MARK];

writeFileSync(join(folder.path, "train.js"), "");
writeFileSync(join(folder.path, "train.ts"), "");
writeFileSync(join(folder.path, "secret.py"), "");
chmodSync(join(folder.path, "secret.py"), 0o200);
writeFileSync(join(folder.path, "plain"), "");
mkdirSync(join(folder.path, "src"));
mkdirSync(join(folder.path, "foreign"));
chmodSync(join(folder.path, "foreign"), 0o755);
chmodSync(folder.path, 0o755);
writeFileSync(join(folder.path, "syntax.yaml"), "maxRestarts: 3\nnnodes: [1\n");
writeFileSync(join(folder.path, "list.yaml"), "- 1\n");
writeFileSync(
	join(folder.path, "bad.yaml"),
	"maxRestart: 3\nmaxRestarts: three\nnnodes: true\n",
);
writeFileSync(
	join(folder.path, "keys.yaml"),
	"config: a\nscript: b\nfoo: 1\nrdzvConf: { password: hunter2 }\n",
);
writeFileSync(join(folder.path, "two.yaml"), "tee: 1\n---\ntee: 2\n");
writeFileSync(join(folder.path, "bad.json"), '{ "tee": 1,\n "tee": 2 }');
writeFileSync(
	join(folder.path, "half.mjs"),
	'export default { name: "half", onScaleUp() {} };',
);
writeFileSync(
	join(folder.path, "waits.mjs"),
	"await new Promise(() => {}); export default {};",
);
writeFileSync(join(folder.path, "exits.mjs"), "process.exit(0);");
writeFileSync(join(folder.path, "throws.mjs"), 'throw new Error("boom");');

interface BadInput {
	/** The number in the list of bad inputs. */
	readonly number: number;
	readonly args: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
	/** Runs as a user without rights, which needs root. */
	readonly asNobody?: boolean;
	/** Runs as a process of its own: one of each kind does, and what ends the process itself. */
	readonly isAlone?: boolean;
	readonly exitCode?: number;
	/** One pattern a line of stderr. */
	readonly lines: readonly RegExp[];
}

const BAD_INPUTS: readonly BadInput[] = [
	{
		number: 1,
		args: [],
		isAlone: true,
		lines: [/^no command given; give a script/],
	},
	{ number: 1, args: ["--nnodes", "1"], lines: [/^no command given/] },
	{ number: 1, args: [""], lines: [/^no command given/] },
	{
		number: 2,
		args: ["nosuch.js"],
		isAlone: true,
		exitCode: 127,
		lines: [/^script "nosuch.js" not found \(looked in \/.*\)/],
	},
	{
		number: 2,
		args: ["nosuch-command", "x"],
		isAlone: true,
		exitCode: 127,
		lines: [/^command "nosuch-command" not found on PATH/],
	},
	{
		number: 2,
		args: ["plain"],
		lines: [
			/^"plain" is no command .*; to run the file here, use: elastic-run \.\/plain; /,
		],
	},
	{
		number: 3,
		args: ["statsu"],
		lines: [
			/^"statsu" is no command of .*; did you mean elastic-run status\? to run the program statsu, use: elastic-run run statsu$/,
		],
	},
	{
		number: 3,
		args: ["statsu", "train"],
		isAlone: true,
		lines: [/^"statsu" not found; did you mean the command status\?$/],
	},
	{
		number: 3,
		args: ["barrier"],
		lines: [
			/^barrier: --probe-port is missing; give the port of the probe$/,
			/^barrier: a run without a command needs a name: --run-id$/,
		],
	},
	{
		number: 3,
		args: ["--tee", "0", "status"],
		exitCode: 127,
		lines: [/^command "status" not found/],
	},
	{
		number: 4,
		args: ["secret.py"],
		asNobody: true,
		exitCode: 126,
		lines: [/^cannot read secret.py: permission denied/],
	},
	{
		number: 4,
		args: ["./plain"],
		isAlone: true,
		exitCode: 126,
		lines: [/^".\/plain" is not executable; use chmod \+x/],
	},
	{
		number: 5,
		args: ["./src"],
		lines: [/^".\/src" is a directory; give a script or a command/],
	},
	{
		number: 5,
		args: ["src"],
		lines: [/^"src" is no command .* and no file here, but a directory; /],
	},
	{
		number: 7,
		args: ["--nproc-per-nod", "4", ...TOUCH],
		isAlone: true,
		lines: [
			/^unknown option --nproc-per-nod; did you mean --nproc-per-node\?$/,
		],
	},
	{
		number: 7,
		args: ["--xyzzy", "4", ...TOUCH],
		lines: [/^unknown option --xyzzy; see --help$/],
	},
	{
		number: 7,
		args: ["--standalone=1", ...TOUCH],
		lines: [/^--standalone takes no value/],
	},
	{
		number: 7,
		args: ["--nnodes"],
		lines: [/^--nnodes: its value is missing; use --nnodes <N\|MIN:MAX>$/],
	},
	...ALL_OPTIONS.filter(({ argument }) => argument !== undefined).map(
		({ name }) => ({
			number: 7,
			args: [`--${name}=`, ...TOUCH],
			env: { ELASTIC_RUN_CONFIG: "nosuch.yaml" },
			lines: [
				...(name === "config" ? [] : [/ELASTIC_RUN_CONFIG/]),
				new RegExp(`^--${name}: is empty; give a value, or leave it out`),
			],
		}),
	),
	...[
		["status", "--config="],
		["history", "x", "--rdzv-conf="],
		["logs", "--grep="],
		["clean", "--older-than", ""],
		["doctor", "--run-id="],
	].map((args) => ({
		number: 7,
		args,
		lines: [/--[a-z-]+: is empty; give a value, or leave it out/],
	})),
	...["-m", "--module"].map((flag) => ({
		number: 7,
		args: [flag, "--no-python", "nosuch", "--lr", "1"],
		lines: [/^--module cannot be combined with --no-node/],
	})),
	...["0", "-1", "1.5", "4x"].map((text) => ({
		number: 8,
		args: ["--nproc-per-node", text, ...TOUCH],
		lines: [
			/^--nproc-per-node: ".*" is not valid; use a whole number from 1 to 1024, "auto", "cpu" or "gpu"$/,
		],
	})),
	{
		number: 9,
		args: ["--nproc-per-node", "gpu", ...TOUCH],
		env: { CUDA_VISIBLE_DEVICES: "" },
		lines: [
			/^--nproc-per-node: gpu: no GPU found \(CUDA_VISIBLE_DEVICES is ""\); use a number$/,
		],
	},
	{
		number: 10,
		args: ["--nproc-per-node", "100000", ...TOUCH],
		lines: [/^--nproc-per-node: 100000 workers exceed the limit of 1024/],
	},
	{
		number: 11,
		args: ["--nnodes", "a", ...TOUCH],
		lines: [/^--nnodes: "a" is not valid; use N or MIN:MAX/],
	},
	{
		number: 12,
		args: ["--nnodes", "3:1", ...TOUCH],
		lines: [/^--nnodes: "3:1": MIN is larger than MAX/],
	},
	{
		number: 13,
		args: ["--nnodes", "0", ...TOUCH],
		lines: [/^--nnodes: "0": MIN must be at least 1/],
	},
	{
		number: 13,
		args: ["--nnodes", "0:4", ...TOUCH],
		lines: [/^--nnodes: "0:4": MIN must be at least 1/],
	},
	{
		number: 14,
		args: ["--max-restarts", "-1", ...TOUCH],
		lines: [
			/^--max-restarts: "-1" is not valid; use a number of restarts, or one in a time, for example 3 or 3\/6h$/,
		],
	},
	{
		number: 14,
		args: ["--max_restarts", "abc", ...TOUCH],
		lines: [/^--max_restarts: "abc" is not valid/],
	},
	{
		number: 15,
		args: ["--restart-policy", "sft", ...TOUCH],
		lines: [/^--restart-policy: "sft" is unknown; .* did you mean soft\?$/],
	},
	{
		number: 15,
		args: ["--restart-policy", "./half.mjs", ...TOUCH],
		lines: [
			/half.mjs is no restart policy: it lacks onScaleDown, onWorkerFailure;/,
		],
	},
	{
		number: 15,
		args: ["--restart-policy", "./nosuch.mjs", ...TOUCH],
		lines: [/^--restart-policy: .\/nosuch.mjs: no such file/],
	},
	...["waits.mjs", "exits.mjs"].map((module) => ({
		number: 15,
		args: ["--restart-policy", module, ...TOUCH],
		isAlone: true,
		lines: [/^ended before it was done, .*--restart-policy.* process.exit/],
	})),
	{
		number: 15,
		args: ["--restart-policy", "throws.mjs", ...TOUCH],
		lines: [/throws.mjs: cannot be loaded: boom$/],
	},
	{
		number: 17,
		args: ["--rdzv-endpoint", "foo", ...TOUCH],
		lines: [
			/^--rdzv-endpoint: "foo": port missing; use host:port, for example foo:2379$/,
		],
	},
	{
		number: 18,
		args: ["--rdzv-endpoint", "host:99999", ...TOUCH],
		lines: [/port 99999 is out of range; use 1-65535$/],
	},
	{
		number: 19,
		args: ["--rdzv-endpoint", "http://u:p@h:2379", ...TOUCH],
		lines: [/^--rdzv-endpoint: credentials in it are visible to other users/],
	},
	{
		number: 20,
		args: ["--rdzv-endpoint", "::1:2379", ...TOUCH],
		lines: [/write an IPv6 address in brackets, for example \[::1\]:2379$/],
	},
	{
		number: 19,
		args: ["--rdzv-conf", "username=u,password=hunter2", ...TOUCH],
		lines: [
			/^--rdzv-conf: a password in it is visible to other users of this machine; use password_file=FILE$/,
		],
	},
	{
		number: 22,
		args: ["--rdzv-endpoint", "h:1", "--rdzv-conf", "username=u", ...TOUCH],
		lines: [
			/^--rdzv-conf: username u: its password is missing; use password_file=FILE or the variable ELASTIC_RUN_RDZV_PASSWORD$/,
		],
	},
	{
		number: 22,
		args: ["--rdzv-endpoint", "h:1", ...TOUCH],
		env: { ELASTIC_RUN_RDZV_PASSWORD: "hunter2" },
		lines: [
			/^--rdzv-conf: ELASTIC_RUN_RDZV_PASSWORD: whose password it is, is missing; use username=NAME or the variable ELASTIC_RUN_RDZV_USERNAME$/,
		],
	},
	{
		number: 23,
		args: [
			...["--rdzv-endpoint", "https://h:1"],
			...["--rdzv-conf", "cacert=train.js,cert=plain"],
			...TOUCH,
		],
		lines: [
			/^--rdzv-conf: cert without key; give both, cert=FILE,key=FILE, or none$/,
			/^--rdzv-conf: cacert train.js: holds no certificate; give a file in PEM format$/,
			/^--rdzv-conf: cert plain: holds no certificate/,
		],
	},
	{
		number: 23,
		args: ["--rdzv-endpoint", "https://a:1,b:2", ...TOUCH],
		lines: [
			/^--rdzv-endpoint: https:\/\/a:1,b:2: some with https and some without; write https:\/\/ before all of them, or before none$/,
		],
	},
	{
		number: 23,
		args: ["--rdzv-conf", "cacert=/nosuch.pem", ...TOUCH],
		lines: [/^--rdzv-conf: cacert \/nosuch.pem: no such file/],
	},
	{
		number: 26,
		args: ["--run-id", "../x", ...TOUCH],
		lines: [/^--run-id: "..\/x" is not valid; use letters, digits/],
	},
	{
		number: 26,
		args: ["--node-id", "a b", "--role", "-", ...TOUCH],
		lines: [/^--node-id: "a b" is not valid/, /^--role: "-" is not valid/],
	},
	{
		// A name reaches the terminal without C1 controls, and without what turns its direction.
		number: 26,
		args: ["--config", "no\u009b31m\u202esuch\u2066.yaml", ...TOUCH],
		lines: [/^--config no31msuch.yaml: no such file/],
	},
	{
		number: 30,
		args: ["--config", "nosuch.yaml", ...TOUCH],
		lines: [/^--config nosuch.yaml: no such file/],
	},
	{
		number: 30,
		args: TOUCH,
		env: { ELASTIC_RUN_CONFIG: "nosuch.yaml" },
		lines: [/^environment ELASTIC_RUN_CONFIG nosuch.yaml: no such file/],
	},
	{
		number: 30,
		args: ["--config", "src", ...TOUCH],
		lines: [/^--config src: is a directory/],
	},
	{
		number: 31,
		args: ["--config", "syntax.yaml", ...TOUCH],
		lines: [/^syntax.yaml:3:1: /],
	},
	{
		number: 31,
		args: ["--config", "bad.json", ...TOUCH],
		lines: [/^bad.json:2:2: Map keys must be unique/],
	},
	{
		number: 31,
		args: ["--config", "list.yaml", ...TOUCH],
		lines: [/^list.yaml: expected a map of settings/],
	},
	{
		number: 32,
		args: ["--config", "bad.yaml", ...TOUCH],
		isAlone: true,
		lines: [
			/^bad.yaml: maxRestart: is not known here; did you mean maxRestarts\?$/,
			/^bad.yaml: nnodes: expected a number or a text, got true$/,
			/^bad.yaml: maxRestarts: "three" is not valid; use a number of restarts/,
		],
	},
	{
		number: 32,
		args: ["--config", "keys.yaml", ...TOUCH],
		lines: [
			/^keys.yaml: config: cannot stand in a config file; use --config or ELASTIC_RUN_CONFIG$/,
			/^keys.yaml: script: cannot stand in a config file; give the command on/,
			/^keys.yaml: foo: is not known here; use the flags of elastic-run --help, in camelCase$/,
			/^keys.yaml: rdzvConf: a password in it is in clear text for anybody who reads the file; use password_file=FILE$/,
		],
	},
	{
		number: 31,
		args: ["--config", "two.yaml", ...TOUCH],
		lines: [/^two.yaml:2:1: a second document begins here/],
	},
	{
		number: 34,
		args: TOUCH,
		env: { ELASTIC_RUN_NPROC_PER_NODE: "x" },
		lines: [/^environment ELASTIC_RUN_NPROC_PER_NODE: "x" is not valid;/],
	},
	{
		number: 35,
		args: ["--tee", "x", ...TOUCH],
		isAlone: true,
		env: { ELASTIC_RUN_NPROC: "4" },
		lines: [
			/^warning: environment ELASTIC_RUN_NPROC is not known and has no effect; did you mean ELASTIC_RUN_NPROC_PER_NODE\?$/,
			/^--tee: "x"/,
		],
	},
	{
		number: 36,
		args: ["--standalone", "--rdzv-endpoint", "h:1", ...TOUCH],
		lines: [/^--standalone: .*cannot be combined with --rdzv-endpoint h:1/],
	},
	{
		number: 36,
		args: ["--standalone", "--nnodes", "2", ...TOUCH],
		lines: [/^--standalone: .*cannot be combined with --nnodes 2/],
	},
	{
		number: 37,
		args: ["--log-dir", "foreign/logs", ...TOUCH],
		asNobody: true,
		lines: [
			/^--log-dir: foreign\/logs: permission denied in \/.*\/foreign; choose another directory$/,
		],
	},
	{
		number: 37,
		args: ["--log-dir", "/proc/x", ...TOUCH],
		lines: [
			/^--log-dir \/proc\/x: it cannot be created there \(ENOENT.*\); choose a directory that can be written$/,
		],
	},
	{
		number: 37,
		args: ["--log-dir", "plain/logs", ...TOUCH],
		lines: [/^--log-dir: plain\/logs: .*\/plain is not a directory/],
	},
	{
		number: 39,
		args: ["--shutdown-timeout", "5 parsecs", ...TOUCH],
		lines: [
			/^--shutdown-timeout: "5 parsecs" is not a duration; use seconds, or for example 500ms, 30s, 10m, 1h$/,
		],
	},
	{
		number: 39,
		args: ["--rdzv-conf", "join_timeout=35s", ...TOUCH],
		lines: [
			/^--rdzv-conf: join_timeout \(35s\) must be longer than settle_timeout \(35s/,
		],
	},
	{
		number: 43,
		args: ["--local-ranks-filter", "3-1,x", ...TOUCH],
		lines: [
			/^--local-ranks-filter: "3-1" is not valid/,
			/^--local-ranks-filter: "x" is not valid/,
		],
	},
	{
		number: 43,
		args: ["--nproc-per-node", "2", "--redirects", "0:1,2:3", ...TOUCH],
		lines: [
			/^--redirects: there is no local rank 2 with 2 workers; use 0 to 1$/,
		],
	},
];

// Not met here, by number: 16 speaks of a running round; 21, 24, 25, 27, 28 and 29 need
// an etcd: see rendezvous-start.test.ts, where a wrong password of 22 is, too; 33 is a line of 32's file; 38 has no flag yet; 40 is
// the channel's; 41 cannot be typed, the system refuses it (see launch-config.test.ts).
describe("bad input", () => {
	for (const {
		number,
		args,
		env = {},
		asNobody,
		isAlone,
		exitCode = 2,
		lines,
	} of BAD_INPUTS) {
		test(`${number}: elastic-run ${args.join(" ")}`, async (context) => {
			if (asNobody && !IS_ROOT) context.skip("only root can become nobody");
			const options = { cwd: folder.path, env };
			const as = asNobody ? { uid: NOBODY } : {};
			const result =
				isAlone || asNobody
					? await runCli(args, { ...options, ...as })
					: await runLine(args, options);
			expect(linesOf(result.stderr)).toEqual(
				lines.map((line) => expect.stringMatching(line)),
			);
			expect(result.stdout).toBe("");
			expect(result.exitCode).toBe(exitCode);
			expect(existsSync(MARK)).toBe(false);
		});
	}

	test("6: a TypeScript script without tsx", async (context) => {
		if (RUNS_TYPESCRIPT) context.skip("this Node runs TypeScript");
		const result = await runCli(["train.ts"], { cwd: folder.path });
		expect(result.stderr).toMatch(
			/^elastic-run: train.ts needs the package tsx on Node [\d.]+: npm install --save-dev tsx \(Node >= 22.18 runs it directly\)\n$/,
		);
		expect(result.exitCode).toBe(2);
	});

	test.each([
		["status", "--output", "json"],
		["doctor"],
		["validate"],
		TOUCH,
	])("a working directory that is gone: %s %s", async (...args) => {
		const through = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
		const command = [process.execPath, CLI, ...args];
		const { status, stderr } = spawnSync(
			"sh",
			["-c", through, "sh", ...command],
			{ cwd: folder.path, encoding: "utf8" },
		);
		expect(linesOf(stderr)).toEqual([
			expect.stringMatching(/^the working directory no longer exists/),
		]);
		expect(status).toBe(2);
	});

	// Node itself reads the command with 19 of them, and its modules with some more.
	test.each([
		19, 22, 27, 32, 36, 39, 40,
	])("%i open files are too few", (most) => {
		const through = `ulimit -n ${most} && exec "$@"`;
		const command = [process.execPath, CLI, "--nproc-per-node", "8", ...TOUCH];
		const { status, stderr } = spawnSync(
			"sh",
			["-c", through, "sh", ...command],
			{ cwd: folder.path, encoding: "utf8" },
		);
		expect(linesOf(stderr)).toEqual([
			expect.stringMatching(
				/EMFILE.*; the limit of open files \(ulimit -n\) is too low: raise it, for example with ulimit -n 4096$/,
			),
		]);
		expect(status).toBe(75);
	});

	test("a run of no name here, and no etcd", async () => {
		const { exitCode, stderr } = await runLine(["history", "x"], {
			cwd: folder.path,
		});
		expect(linesOf(stderr)).toEqual([
			"no run x is known on this machine, and no etcd answered at 127.0.0.1:2379; name the run's etcd with --rdzv-endpoint",
		]);
		expect(exitCode).toBe(4);
	});

	test("42: a Node that is too old", async () => {
		const pretend = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.4"}})`;
		const result = await runCli(["--help"], {
			cwd: folder.path,
			nodeArgs: ["--import", pretend],
		});
		expect(result).toEqual({
			exitCode: 2,
			stdout: "",
			stderr:
				"elastic-run: Node >= 20.19 is needed (this is 18.20.4); install a newer one\n",
		});
	});

	test("44: a flag after the script is noted", async () => {
		const result = await runCli(
			["--dry-run", "train.js", "--nproc_per_node", "4", "--config", "x"],
			{ cwd: folder.path },
		);
		expect(linesOf(result.stderr)).toEqual([
			'note: "--nproc_per_node 4" follows the script and is passed to it; put it before train.js if it is meant for elastic-run',
		]);
		expect(result.exitCode).toBe(0);
	});

	test("all problems at once", async () => {
		const result = await runCli(
			[
				"--nproc",
				"4",
				"--nnodes",
				"a",
				"--tee",
				"9",
				"--log-prefix",
				"$" + "{x}",
				"--virtual-local-rank",
				"nosuch.js",
			],
			{ cwd: folder.path, env: { ELASTIC_RUN_ROLE: "a b" } },
		);
		expect(
			linesOf(result.stderr).map((line) => line.split(/[:;] /)[0]),
		).toEqual([
			"unknown option --nproc",
			"--virtual-local-rank has no meaning here",
			"--nnodes",
			"environment ELASTIC_RUN_ROLE",
			"--tee",
			"--log-prefix",
			`script "nosuch.js" not found (looked in ${folder.path})`,
		]);
		expect(result.exitCode).toBe(2);
	});

	test.each([
		["--rdzv-backend", "etcd-v2", /use etcd with --rdzv-endpoint/],
		["--node-rank", "-1", /a whole number of at least 0/],
		["--master-addr", "a b", /a host name or an IP address/],
		["--master_port", "0", /a port from 1 to 65535/],
		["--numa-binding", "node", /numactl/],
	])("torchrun's %s %s", async (flag, value, words) => {
		const result = await runLine([flag, value, ...TOUCH], { cwd: folder.path });
		expect(linesOf(result.stderr)).toEqual([expect.stringMatching(words)]);
		expect(result.exitCode).toBe(2);
	});
});

function linesOf(stderr: string): string[] {
	return stderr
		.split("\n")
		.slice(0, -1)
		.map((line) => {
			expect(line).toMatch(/^elastic-run: /);
			return line.replace("elastic-run: ", "");
		});
}
