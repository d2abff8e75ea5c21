import { resolve } from "node:path";
import { readSmallFile } from "../base/read-small-file.js";
import { RestartPolicy } from "../policies/index.js";
import type {
	AgentConfig,
	ExitCodeConfig,
	HttpConfig,
	NoticesConfig,
	PreflightConfig,
	ReplaceNodeConfig,
	StepsConfig,
} from "./agent-config.js";
import { HTTP_TOKEN_VARIABLE } from "./environment.js";
import { OPTIONS } from "./options.js";
import { addressInWords, isOnlyLocal } from "./parse/endpoints.js";
import { durationInWords } from "./parse/scalars.js";
import { platformGrace } from "./platform-grace.js";
import { asPolicy, loadPolicy, policyDigest } from "./policy-file.js";
import type { Environment, Report, SettingReader } from "./settings.js";

/** The given policy, object or name. Reports a problem and returns undefined if it is not valid. */
export async function resolvePolicy(
	reader: SettingReader,
	request: {
		readonly policy?: unknown;
		readonly cwd: string;
	},
	warn: Report,
) {
	const { restartPolicy } = OPTIONS;
	const choice = reader.value(restartPolicy);
	if (!reader.sound(restartPolicy)) return undefined;
	const loaded =
		request.policy === undefined
			? await loadPolicy(choice, request.cwd)
			: asPolicy(request.policy, "the object");
	if ("value" in loaded) {
		const policy = loaded.value;
		const isFile = request.policy === undefined && "file" in choice;
		const policyId = isFile
			? `${policy.name} ${await policyDigest(choice.file, request.cwd)}`
			: policy.name;
		if (policyId === RestartPolicy.HARD) warnOfPauses(reader, warn);
		return { policy, policyId };
	}
	for (const words of loaded.problems) reader.refuse(restartPolicy, words);
	return undefined;
}

function warnOfPauses(reader: SettingReader, warn: Report): void {
	const { pauseTimeout } = OPTIONS;
	if (reader.textOf(pauseTimeout) === undefined) return;
	warn(
		`${reader.placeOf(pauseTimeout)}: without effect with the policy hard, which pauses no worker; use the policy soft or soft-replace, or leave it out`,
	);
}

export function restartsConfig(
	reader: SettingReader,
	store: Pick<AgentConfig, "backend" | "meeting">,
) {
	const main = reader.value(OPTIONS.maxRestarts);
	return {
		maxRestarts: main.restarts,
		restartLimits: {
			windowMs: main.windowMs,
			node: reader.given(OPTIONS.maxNodeRestarts),
			role: reader.given(OPTIONS.maxRoleRestarts),
			preemptions: reader.given(OPTIONS.maxPreemptions),
		},
		restartDelay: reader.value(OPTIONS.restartDelay),
		maxIdenticalFailures: reader.value(OPTIONS.maxIdenticalFailures),
		failoverScope: reader.value(OPTIONS.failoverScope),
		driverRoles: reader.given(OPTIONS.driverRole) ?? [],
		rules: reader.given(OPTIONS.rule) ?? [],
		isRecreated: isRecreated(reader, store),
		exitCodes: exitCodes(reader),
	};
}

/** The state of the run must outlive this agent. */
function isRecreated(
	reader: SettingReader,
	{ backend, meeting }: Pick<AgentConfig, "backend" | "meeting">,
): boolean {
	const { restartStrategy } = OPTIONS;
	if (reader.value(restartStrategy) !== "recreate") return false;
	if (backend === "etcd" && meeting === undefined) return true;
	const lost =
		backend === "memory"
			? "without etcd the run's state, its budgets included, ends with this agent"
			: "the etcd that agents start may end with them, and the run's state with it";
	reader.refuse(
		restartStrategy,
		`recreate: ${lost}; give --rdzv-backend etcd and an etcd as --rdzv-endpoint, or leave it out`,
	);
	return false;
}

/** A scheduler must be able to tell the two apart. */
function exitCodes(reader: SettingReader): ExitCodeConfig {
	const { exitCodeReplace, exitCodeRestart, propagateExitCode } = OPTIONS;
	const replaceNode = reader.value(exitCodeReplace);
	const restart = reader.value(exitCodeRestart);
	if (
		reader.sound(exitCodeReplace, exitCodeRestart) &&
		replaceNode === restart
	) {
		const option = reader.given(exitCodeRestart)
			? exitCodeRestart
			: exitCodeReplace;
		reader.refuse(
			option,
			`${restart} says both "replace this node" and "start this agent again"; give two different codes`,
		);
	}
	return {
		replaceNode,
		restart,
		isPropagated: reader.value(propagateExitCode),
	};
}

export function stepsConfig(reader: SettingReader): StepsConfig {
	return {
		pattern: reader.value(OPTIONS.stepPattern),
		hangMs: reader.value(OPTIONS.hangTimeout),
		startMs: reader.value(OPTIONS.startTimeout),
		onHang: reader.value(OPTIONS.onHang),
		evidenceMs: reader.value(OPTIONS.evidenceTimeout),
		exitMs: reader.value(OPTIONS.exitTimeout),
		stuckMs: reader.value(OPTIONS.stuckTimeout),
	};
}

export function preflightConfig(reader: SettingReader): PreflightConfig {
	return {
		command: reader.given(OPTIONS.preflightCommand),
		timeoutMs: reader.value(OPTIONS.preflightTimeout),
	};
}

export function replaceNodeConfig(reader: SettingReader): ReplaceNodeConfig {
	return {
		command: reader.given(OPTIONS.replaceNodeCommand),
		timeoutMs: reader.value(OPTIONS.replaceNodeTimeout),
	};
}

/** Warns of times that do not fit together: then a part of the order is lost. */
export async function resolveNotices(
	reader: SettingReader,
	request: {
		readonly cwd: string;
		readonly environment: Environment;
	},
	warn: Report,
): Promise<Pick<AgentConfig, "notices" | "deadlineMs">> {
	const { cwd, environment } = request;
	const { shutdownTimeout, terminationGrace } = OPTIONS;
	const grace = reader.value(terminationGrace);
	const hasOwnTime = reader.textOf(shutdownTimeout) !== undefined;
	const found =
		grace === "auto" ? await platformGrace(environment, hasOwnTime) : undefined;
	if (found !== undefined) warn(found.words);
	const sources = reader.value(OPTIONS.notices);
	const notices: NoticesConfig = {
		sources:
			sources === "auto"
				? sources
				: sources.map((one) =>
						typeof one === "object" ? { path: resolve(cwd, one.path) } : one,
					),
		onAdvice: reader.value(OPTIONS.onAdvice),
		maxLifetimeMs: reader.given(OPTIONS.maxLifetime),
		drainBeforeMs: reader.value(OPTIONS.drainBefore),
		terminationGraceMs: grace === "auto" ? found?.graceMs : grace,
	};
	const isInSlurm =
		Boolean(environment.SLURM_JOB_ID) &&
		(sources === "auto" || sources.includes("slurm"));
	const shutdownTimeoutMs = reader.value(shutdownTimeout);
	// A grace that the platform gives has its own line above.
	const set = { ...notices, ...(found && { terminationGraceMs: undefined }) };
	for (const words of fitWarnings(set, shutdownTimeoutMs, isInSlurm)) {
		warn(words);
	}
	return { notices, deadlineMs: reader.given(OPTIONS.deadline) };
}

/** One line for each time that is too short for the workers' own. */
export function fitWarnings(
	notices: Omit<NoticesConfig, "sources" | "onAdvice">,
	shutdownTimeoutMs: number,
	isInSlurm: boolean,
): readonly string[] {
	const { maxLifetimeMs, drainBeforeMs, terminationGraceMs } = notices;
	const shutdown = `--shutdown-timeout (${durationInWords(shutdownTimeoutMs)})`;
	const isTight = (timeMs: number | undefined) =>
		timeMs !== undefined && timeMs <= shutdownTimeoutMs;
	// A short lifetime keeps at least half of its time.
	const halfMs = (maxLifetimeMs ?? Number.POSITIVE_INFINITY) / 2;
	const isShort = halfMs < drainBeforeMs && isTight(halfMs);
	return [
		...(isShort
			? [
					`half of --max-lifetime (${durationInWords(maxLifetimeMs ?? 0)}) is not longer than ${shutdown}: workers that use all of it are killed at its end`,
				]
			: []),
		...(isTight(terminationGraceMs)
			? [
					`--termination-grace (${durationInWords(terminationGraceMs ?? 0)}) is not longer than ${shutdown}: workers that use all of it are killed with their launcher; make the pod's terminationGracePeriodSeconds longer, or the shutdown time-out shorter`,
				]
			: []),
		...((maxLifetimeMs !== undefined || isInSlurm) && isTight(drainBeforeMs)
			? [
					`--drain-before (${durationInWords(drainBeforeMs)}) is not longer than ${shutdown}: workers that use all of it are killed at the end of ${maxLifetimeMs === undefined ? "the Slurm job" : "--max-lifetime"}`,
				]
			: []),
	];
}

/** A shorter token can be guessed. */
const SHORTEST_TOKEN = 16;
/** Characters that a header can carry unchanged. */
const TOKEN = /^[!-~]+$/;
const HOW_TO_MAKE_ONE = "openssl rand -hex 32 makes a good one";

/** Where this node serves its status; undefined: nowhere. Reads the token file, opens nothing. */
export async function resolveHttp(
	reader: SettingReader,
	context: {
		/** Base of relative paths. */
		readonly cwd: string;
		/** The token from the variable, if variables are read at all. */
		readonly httpToken: string | undefined;
	},
	warn: Report,
): Promise<HttpConfig | undefined> {
	const { http, httpTokenFile } = OPTIONS;
	const address = reader.given(http);
	const file = reader.given(httpTokenFile);
	if (address === undefined) {
		if (file !== undefined && reader.textOf(http) === undefined) {
			warn(
				`${reader.placeOf(httpTokenFile)}: without effect; add --http HOST:PORT`,
			);
		}
		return undefined;
	}
	const inFile = file && (await readToken(reader, file, context.cwd));
	const source = file === undefined ? HTTP_TOKEN_VARIABLE : file;
	const token = file === undefined ? context.httpToken : inFile;
	const problem = token === undefined ? undefined : tokenProblem(token);
	if (problem !== undefined) {
		reader.refuse(httpTokenFile, `${source}: ${problem}; ${HOW_TO_MAKE_ONE}`);
	}
	if (file === undefined && token === undefined && !isOnlyLocal(address)) {
		const here = addressInWords({ ...address, host: "127.0.0.1" });
		reader.refuse(
			http,
			`${addressInWords(address)}: other machines can reach it, and it shows logs; give a token with --http-token-file PATH or the variable ${HTTP_TOKEN_VARIABLE}, or use ${here}`,
		);
	}
	return { ...address, token };
}

async function readToken(
	reader: SettingReader,
	file: string,
	cwd: string,
): Promise<string | undefined> {
	const read = await readSmallFile(resolve(cwd, file));
	if ("problem" in read) {
		reader.refuse(OPTIONS.httpTokenFile, `${file}: ${read.problem}`);
		return undefined;
	}
	// Editors end a file with a line break.
	return read.content.toString("utf8").replace(/\r?\n$/, "");
}

function tokenProblem(token: string): string | undefined {
	if (token.length < SHORTEST_TOKEN) {
		return `a token of ${token.length} characters can be guessed; use at least ${SHORTEST_TOKEN}`;
	}
	if (TOKEN.test(token)) return undefined;
	return "a token has letters, digits and signs of ASCII only, without blanks, on one line";
}
