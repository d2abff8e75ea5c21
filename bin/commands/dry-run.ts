import { workerEnvironment } from "../../src/agent/index.js";
import { formatCount } from "../../src/base/units.js";
import {
	type AgentConfig,
	hideSecret,
	type Settings,
} from "../../src/config/index.js";
import {
	type Configuration,
	configurationInWords,
	describeConfiguration,
	shellQuote,
} from "./settings-view.js";

/** What a run would start, without secrets. */
interface DryRun {
	readonly configuration: Configuration;
	readonly workers: readonly WorkerView[];
	/** The variables that every worker inherits unchanged. */
	readonly inheritedEnvironment: Readonly<Record<string, string>>;
}

interface WorkerView {
	/** Null if it depends on other nodes. */
	readonly rank: number | null;
	readonly localRank: number;
	readonly argv: readonly string[];
	readonly cwd: string;
	/** The variables that the launcher adds or changes. */
	readonly environment: Readonly<Record<string, string>>;
}

/** Stands for a value that is known only at the start of a run. */
const AT_START = "(chosen at start)";

/** Variables that depend on the other nodes of a round, if there may be any. */
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

/** The dry run as text: one worker and the changed settings, or with `isVerbose` all of it. */
export function dryRunInWords(dryRun: DryRun, isVerbose: boolean): string {
	const { configuration, inheritedEnvironment } = dryRun;
	const settings = Object.entries(configuration).filter(
		([, { origin }]) => isVerbose || !DEFAULT_ORIGINS.includes(origin),
	);
	const workers = isVerbose ? dryRun.workers : dryRun.workers.slice(0, 1);
	const inherited = isVerbose
		? ["", "inherited by every worker", ...variables(inheritedEnvironment)]
		: [];
	return [
		...configurationInWords(Object.fromEntries(settings)),
		...workers.flatMap(workerInWords),
		...inherited,
		...(isVerbose ? [] : leftOut(dryRun, settings.length)),
		"",
	].join("\n");
}

/** The origins of settings that follow from nothing that was given. */
const DEFAULT_ORIGINS: readonly string[] = ["default", "detected at start"];

function workerInWords({
	rank,
	localRank,
	argv,
	cwd,
	environment,
}: WorkerView): readonly string[] {
	return [
		"",
		rank === null
			? `worker of local rank ${localRank}`
			: `worker of rank ${rank}`,
		`  ${argv.map(shellQuote).join(" ")}`,
		`  in ${cwd}`,
		...variables(environment),
	];
}

function leftOut(
	{ configuration, workers, inheritedEnvironment }: DryRun,
	shown: number,
): readonly string[] {
	const others = workers.length - 1;
	const parts = [
		...(others > 0 ? [formatCount(others, "more worker")] : []),
		`${formatCount(Object.keys(configuration).length - shown, "setting")} left at the default`,
		formatCount(Object.keys(inheritedEnvironment).length, "inherited variable"),
	];
	return ["", `not shown: ${parts.join(", ")}; -v shows all`];
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
	const { nprocPerNode, runId, role, localAddr } = config;
	const owner = { config, incarnation: AT_START };
	const environment = workerEnvironment(owner, {
		info: {
			localRank: rank,
			roleRank: rank,
			rank,
			localWorldSize: nprocPerNode,
			roleWorldSize: nprocPerNode,
			worldSize: nprocPerNode,
			groupRank: 0,
			groupWorldSize: 1,
			role,
			masterAddr: localAddr ?? AT_START,
			masterPort: 0,
			round: 1,
			restartCount: 0,
			runId,
		},
		instance: 0,
		channel: AT_START,
		errorFile: AT_START,
		hook: config.hasHook ? AT_START : undefined,
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
		entries.map(([name, value]) => [name, hideSecret(name, value)]),
	);
}
