import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { packageFile } from "../../../src/base/package-files.js";
import type { Host } from "../../../src/config/host.js";
import {
	type LaunchConfig,
	resolveLaunchConfig,
} from "../../../src/config/launch-config.js";
import { OPTIONS } from "../../../src/config/options.js";
import {
	HardRestartPolicyStrategy,
	SoftReplaceRestartPolicyStrategy,
	SoftRestartPolicyStrategy,
} from "../../../src/policies/built-in.js";
import { RestartPolicy } from "../../../src/policies/restart-policy.js";
import { temporaryFolder } from "../../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());
mkdirSync(join(folder.path, "work"));
const OWN = join(folder.path, "node_modules/elastic-run");
mkdirSync(OWN, { recursive: true });
writeFileSync(join(OWN, "package.json"), "{}");
writeFileSync(join(folder.path, "work", "train.js"), "");
writeFileSync(join(folder.path, "x.yaml"), "maxRestarts: 9\nrole: a\n");
writeFileSync(join(folder.path, "token"), "0123456789abcdef\n");
const PRIVATE = join(folder.path, "private");
mkdirSync(PRIVATE);

const host: Host = {
	environment: { PATH: process.env.PATH },
	cwd: folder.path,
	hostName: "host:1.example.org",
	userName: "ann",
	temporaryDirectory: "/tmp",
	processors: 4,
	addresses: ["10.0.0.7"],
	node: { file: "/opt/node", version: "20.19.0", runsTypeScript: false },
	stdin: "other",
	isHangupIgnored: false,
};

const BOTH = { stdout: true, stderr: true };

test("defaults", async () => {
	const config = await resolveLaunchConfig({ script: "work/train.js" }, host);
	expect(config).toMatchObject({
		command: {
			file: "/opt/node",
			args: [
				"--require",
				packageFile("dist/cjs/runtime/hook.js"),
				"work/train.js",
			],
			cwd: folder.path,
			display: "work/train.js",
			typed: ["work/train.js"],
		},
		environment: host.environment,
		nprocPerNode: 1,
		runId: expect.stringMatching(/^train-[0-9a-f]{8}$/),
		isRunIdDerived: true,
		nodeId: "host-1.example.org",
		isNodeIdDerived: true,
		backend: "memory",
		endpoints: [],
		credentials: {},
		rendezvous: {
			joinTimeoutMs: 600_000,
			lastCallTimeoutMs: 30_000,
			settleTimeoutMs: 35_000,
			leaseTtlMs: 5_000,
		},
		localAddr: "127.0.0.1",
		policy: expect.any(HardRestartPolicyStrategy),
		maxRestarts: 3,
		isRecreated: false,
		shutdownTimeoutMs: 30_000,
		notices: { sources: "auto" },
		redirects: [BOTH],
		tee: [BOTH],
		signalsToHandle: ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"],
		channelBase: "/tmp",
	});
	for (const unset of ["logDir", "http", "deadlineMs", "stdinRank"] as const) {
		expect(config[unset]).toBeUndefined();
	}
});

test.each([
	[["SIGTERM", "SIGINT", "SIGQUIT"], undefined],
	[["SIGHUP"], "SIGHUP"],
])("under nohup %j are handled where %j is given", async (handled, signalsToHandle) => {
	const config = await resolveLaunchConfig(
		{ script: "work/train.js", signalsToHandle },
		{ ...host, isHangupIgnored: true },
	);
	expect(config.signalsToHandle).toEqual(handled);
});

test("every setting", async () => {
	const policy = new HardRestartPolicyStrategy();
	// A key of the table that LaunchConfig lacks, or the reverse, is an error here.
	const settings: Required<
		Omit<
			LaunchConfig,
			"script" | "args" | "cwd" | "env" | "signal" | "killSignal"
		>
	> &
		Record<Exclude<keyof typeof OPTIONS, "dryRun" | "verbose">, unknown> = {
		nprocPerNode: 2,
		stdin: 1,
		role: "chief",
		noNode: false,
		module: false,
		noPythonPath: false,
		noHook: true,
		virtualLocalRank: true,
		warm: "auto",
		shutdownTimeout: 1.5,
		pauseTimeout: "2m",
		noticeSignal: "usr1",
		signalsToHandle: ["SIGTERM"],
		restartDelay: "1s:1m",
		maxNodeRestarts: 2,
		maxRoleRestarts: "2/6h",
		maxPreemptions: 8,
		maxIdenticalFailures: 0,
		stepPattern: String.raw`it (\d+)`,
		hangTimeout: "auto",
		startTimeout: "10m",
		onHang: "report",
		evidenceTimeout: 3,
		exitTimeout: "20s",
		stuckTimeout: "5s",
		notices: ["azure", "file:gone"],
		onAdvice: "drain",
		maxLifetime: "24h",
		drainBefore: 120,
		terminationGrace: "90s",
		deadline: "48h",
		nnodes: 1,
		runId: "r",
		nodeId: "n",
		rdzvBackend: "memory",
		rdzvEndpoint: undefined,
		rdzvConf: { lease_ttl: 10 },
		links: "off",
		rideOut: "10m",
		masterAddr: "10.0.0.1",
		masterPort: 29500,
		nodeRank: 1,
		standalone: true,
		localAddr: "10.0.0.9",
		restartPolicy: policy,
		rule: ["exit=3,7 => fail-run", "* => restart"],
		maxRestarts: 0,
		restartStrategy: "in-place",
		exitCodeReplace: 85,
		exitCodeRestart: "86",
		propagateExitCode: true,
		preflightCommand: "nvidia-smi",
		preflightTimeout: 5,
		replaceNodeCommand: "cat",
		replaceNodeTimeout: "1m",
		failoverScope: "role",
		driverRole: ["trainer", "chief"],
		logDir: "logs",
		keepLogs: 3,
		redirects: 0,
		tee: { 1: 2 },
		logPrefix: "$" + "{rank}:",
		localRanksFilter: [1],
		output: "json",
		logFormat: "pretty",
		http: "[::1]:0",
		httpTokenFile: "../token",
		config: "../x.yaml",
	};
	expect(Object.keys(settings).sort()).toEqual(
		Object.keys(OPTIONS)
			.filter((key) => key !== "dryRun" && key !== "verbose")
			.sort(),
	);
	const config = await resolveLaunchConfig(
		{
			...settings,
			script: "train.js",
			args: ["-x"],
			cwd: "work",
			env: { A: "1" },
		},
		host,
	);
	expect(config).toMatchObject({
		command: { args: ["train.js", "-x"], cwd: join(folder.path, "work") },
		environment: { A: "1" },
		nprocPerNode: 2,
		runId: "r",
		isRunIdDerived: false,
		nodeId: "n",
		isNodeIdDerived: false,
		rendezvous: { settleTimeoutMs: 10_000, leaseTtlMs: 10_000 },
		localAddr: "10.0.0.9",
		role: "chief",
		maxRestarts: 0,
		rules: [{ action: "fail-run" }, { action: "restart" }],
		exitCodes: { replaceNode: 85, restart: 86, isPropagated: true },
		preflight: { command: "nvidia-smi", timeoutMs: 5_000 },
		shutdownTimeoutMs: 1_500,
		pauseTimeoutMs: 120_000,
		notices: {
			sources: ["azure", { path: join(folder.path, "work", "gone") }],
			onAdvice: "drain",
			maxLifetimeMs: 86_400_000,
			drainBeforeMs: 120_000,
			terminationGraceMs: 90_000,
		},
		deadlineMs: 172_800_000,
		logDir: join(folder.path, "work", "logs"),
		keepLogs: 3,
		redirects: [
			{ stdout: false, stderr: false },
			{ stdout: false, stderr: true },
		],
		logPrefix: "$" + "{rank}:",
		localRanksFilter: [1],
		output: "json",
		logFormat: "pretty",
		http: { host: "::1", port: 0, token: "0123456789abcdef" },
		noticeSignal: "SIGUSR1",
		signalsToHandle: ["SIGTERM"],
	});
	expect(config.policy).toBe(policy);
});

test.each([
	[RestartPolicy.HARD, HardRestartPolicyStrategy],
	[RestartPolicy.SOFT, SoftRestartPolicyStrategy],
	[RestartPolicy.SOFT_REPLACE, SoftReplaceRestartPolicyStrategy],
])("T1 the policy %s", async (restartPolicy, Strategy) => {
	const config = await resolveLaunchConfig(
		{ script: "true", restartPolicy },
		host,
	);
	expect(config.policy).toBeInstanceOf(Strategy);
	expect(config.policyId).toBe(restartPolicy);
});

test("a policy of a file is known by its name and its content", async () => {
	const file = (name: string, comment: string) => {
		const decide = '() => ({ workers: "restart", charge: "run", reason: "" })';
		writeFileSync(
			join(folder.path, name),
			`/* ${comment} */ export default { name: "mine", onScaleUp: ${decide}, onScaleDown: ${decide}, onWorkerFailure: ${decide} };`,
		);
		const restartPolicy = `./${name}`;
		return resolveLaunchConfig({ script: "true", restartPolicy }, host);
	};
	const { policyId } = await file("a.mjs", "one");
	expect(policyId).toMatch(/^mine sha256:[0-9a-f]{16}$/);
	expect((await file("b.mjs", "one")).policyId).toBe(policyId);
	expect((await file("c.mjs", "other")).policyId).not.toBe(policyId);
});

test("a config file stands behind the object", async () => {
	const config = await resolveLaunchConfig(
		{ script: "true", config: "x.yaml", role: "b" },
		host,
	);
	expect(config).toMatchObject({ maxRestarts: 9, role: "b" });
});

test("neither ELASTIC_RUN_ variables nor the working directory's config file are read", async () => {
	const config = await resolveLaunchConfig(
		{ script: "true", rdzvEndpoint: "localhost:1" },
		{
			...host,
			environment: {
				...host.environment,
				ELASTIC_RUN_MAX_RESTARTS: "8",
				ELASTIC_RUN_RDZV_USERNAME: "ann",
				ELASTIC_RUN_RDZV_PASSWORD: "hunter2",
			},
		},
	);
	expect(config.maxRestarts).toBe(3);
	expect(config.credentials).toEqual({});
});

test.each([
	[{ ELASTIC_RUN_DIR: "own" }, false, join(folder.path, "own")],
	[{ XDG_RUNTIME_DIR: PRIVATE }, true, "/tmp"],
	[{ ELASTIC_RUN_DIR: "", XDG_RUNTIME_DIR: PRIVATE }, false, PRIVATE],
	[{ XDG_RUNTIME_DIR: "/nosuch" }, false, "/tmp"],
])("the channels' base with %j, hang-ups ignored: %j", async (variables, isHangupIgnored, base) => {
	const environment = { ...host.environment, ...variables };
	const config = await resolveLaunchConfig(
		{ script: "true" },
		{ ...host, environment, isHangupIgnored },
	);
	expect(config.channelBase).toBe(base);
});

test.each([
	null,
	"train.js",
])("a LaunchConfig is none of %j", async (config) => {
	const resolution = resolveLaunchConfig(
		config as unknown as LaunchConfig,
		host,
	);
	await expect(resolution).rejects.toMatchObject({
		code: "USAGE",
		message: `launchAgent: expected a LaunchConfig, got ${JSON.stringify(config)}; for example { script: "train.js" }`,
	});
});

describe("problems", () => {
	async function problemsOf(config: object) {
		return resolveLaunchConfig({ script: "true", ...config }, host).then(
			() => [],
			(error) => [error.code, ...error.message.split("\n")],
		);
	}

	test.each([
		[{ script: "" }, "USAGE", /^no command given/],
		[{ signal: {} }, "USAGE", /^signal: expected an AbortSignal, got a map$/],
		[{ role: Symbol("x") }, "USAGE", /^role: expected .*, got Symbol\(x\)$/],
		[{ script: 5 }, "USAGE", /^script: expected a text, got 5$/],
		[
			{ script: "nosuch.js" },
			"COMMAND_NOT_FOUND",
			/^script "nosuch.js" not found/,
		],
		[
			{ args: ["a\0"] },
			"USAGE",
			/^argument 1 of the script contains a NUL byte/,
		],
		[
			{ args: ["", "x".repeat(131_072)] },
			"USAGE",
			/^argument 2 of the script is longer/,
		],
		[{ args: [1] }, "USAGE", /^args: expected a list of texts, got a list$/],
		[{ cwd: "nosuch" }, "USAGE", /^working directory .*\/nosuch is not there/],
		[{ dryRun: true }, "USAGE", /^dryRun: is the command's alone; use/],
		[
			{ env: { A: 1, B: "", C: undefined } },
			"USAGE",
			/^env.A: .* text, got 1$/,
		],
		[{ config: "" }, "USAGE", /^config: is empty; give a value/],
		[{ config: "nosuch" }, "USAGE", /^config nosuch: no such file/],
		[{ nprocPerNode: "" }, "USAGE", /^nprocPerNode: is empty/],
		[
			{ restartPolicy: {} },
			"USAGE",
			/^restartPolicy: the object is no restart policy: it lacks name \(a text\), onScaleUp, onScaleDown, onWorkerFailure;/,
		],
		[
			{ tee: "0:1,1:1" },
			"USAGE",
			/^tee: there is no local rank 1 with 1 worker; use 0$/,
		],
	])("of %j", async (config, code, line) => {
		expect(await problemsOf(config)).toEqual([
			code,
			expect.stringMatching(line),
		]);
	});

	test("all in one error", async () => {
		const problems = await problemsOf({
			script: "nosuch.js",
			nnodes: "a",
			tee: 7,
			foo: 1,
		});
		expect(problems).toHaveLength(5);
		expect(problems[0]).toBe("USAGE");
	});

	test.each([
		[
			{ rdzvConf: "lease_ttl=2", rdzvEndpoint: "h:1" },
			[expect.stringContaining("lease_ttl (2s)")],
		],
		[{ rdzvConf: "lease_ttl=2" }, []],
		[
			{ pauseTimeout: 5 },
			[expect.stringMatching(/^pauseTimeout: without effect with the policy/)],
		],
		[{ pauseTimeout: 5, restartPolicy: "soft" }, []],
	])("what is at odds with the rest is a warning: %j", async (values, expected) => {
		const warnings: string[] = [];
		await resolveLaunchConfig({ script: "true", ...values }, host, (words) =>
			warnings.push(words),
		);
		expect(warnings).toEqual(expected);
	});
});
