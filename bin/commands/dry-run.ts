import type { AgentConfig } from "../../src/agent/configuration/agent-config.js";
import type { Settings } from "../../src/agent/configuration/settings.js";
import { workerEnvironment } from "../../src/agent/worker-environment.js";
import { redact } from "./redact.js";
import {
	type Configuration,
	configurationInWords,
	describeConfiguration,
} from "./settings-view.js";
import { shellQuote } from "./shell-quote.js";

/** What a run would start, without secrets. */
export interface DryRun {
	readonly configuration: Configuration;
	readonly workers: readonly WorkerView[];
	/** What every worker inherits unchanged. */
	readonly inheritedEnvironment: Readonly<Record<string, string>>;
}

interface WorkerView {
	/** Null where it depends on the other nodes. */
	readonly rank: number | null;
	readonly localRank: number;
	readonly argv: readonly string[];
	readonly cwd: string;
	/** What the launcher adds or changes. */
	readonly environment: Readonly<Record<string, string>>;
}

/** What only the start of a run can tell. */
const AT_START = "(chosen at start)";

/** What depends on the other nodes of a round, where it may have some. */
const SET_BY_OTHER_NODES = [
	"RANK",
	"GROUP_RANK",
	"ROLE_RANK",
	"WORLD_SIZE",
	"GROUP_WORLD_SIZE",
	"ROLE_WORLD_SIZE",
	"MASTER_ADDR",
];

export function describeDryRun(
	config: AgentConfig,
	settings: Settings,
): DryRun {
	const environments = Array.from({ length: config.nprocPerNode }, (_, rank) =>
		environmentOf(config, rank),
	);
	const isInherited = ([name, value]: readonly [string, string]) =>
		config.environment[name] === value;
	return {
		configuration: describeConfiguration(config, settings),
		workers: environments.map((environment, rank) => ({
			rank: config.maxNodes > 1 ? null : rank,
			localRank: rank,
			argv: [config.command.file, ...config.command.args],
			cwd: config.command.cwd,
			environment: redactAll(
				Object.entries(environment).filter((entry) => !isInherited(entry)),
			),
		})),
		inheritedEnvironment: redactAll(
			Object.entries(environments[0] ?? {}).filter(isInherited),
		),
	};
}

/** The dry run as lines for people. */
export function dryRunInWords(dryRun: DryRun): string {
	const workers = dryRun.workers.flatMap((worker) => [
		"",
		worker.rank === null
			? `worker of local rank ${worker.localRank}`
			: `worker of rank ${worker.rank}`,
		`  ${worker.argv.map(shellQuote).join(" ")}`,
		`  in ${worker.cwd}`,
		...variables(worker.environment),
	]);
	return [
		...configurationInWords(dryRun.configuration),
		...workers,
		"",
		"inherited by every worker",
		...variables(dryRun.inheritedEnvironment),
		"",
	].join("\n");
}

function variables(environment: Readonly<Record<string, string>>): string[] {
	return Object.entries(environment).map(
		([name, value]) => `    ${name}=${shellQuote(value)}`,
	);
}

function environmentOf(
	config: AgentConfig,
	rank: number,
): Record<string, string> {
	const { nprocPerNode, runId, nodeId, maxRestarts } = config;
	const environment = workerEnvironment({
		parent: config.environment,
		pythonPath: config.pythonPath,
		info: {
			localRank: rank,
			roleRank: rank,
			rank,
			localWorldSize: nprocPerNode,
			roleWorldSize: nprocPerNode,
			worldSize: nprocPerNode,
			groupRank: 0,
			groupWorldSize: 1,
			role: config.role,
			masterAddr: config.localAddr ?? AT_START,
			masterPort: 0,
			round: 1,
			restartCount: 0,
			runId,
		},
		nodeId,
		incarnation: AT_START,
		instance: 0,
		channel: AT_START,
		errorFile: AT_START,
		maxRestarts,
	});
	const unknown = config.maxNodes > 1 ? SET_BY_OTHER_NODES : [];
	return {
		...environment,
		...Object.fromEntries(unknown.map((name) => [name, AT_START])),
		MASTER_PORT: AT_START,
		ELASTIC_RUN_INSTANCE: AT_START,
	};
}

function redactAll(
	entries: readonly (readonly [string, string])[],
): Record<string, string> {
	return Object.fromEntries(
		entries.map(([name, value]) => [name, redact(name, value)]),
	);
}
