import type { Cleanups } from "../../base/cleanups.js";
import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { ChannelRoot } from "../../channel/index.js";
import { type AgentConfig, nodeHook } from "../../config/index.js";
import type { StartSource } from "../../model/index.js";
import {
	agentMark,
	findSetpriv,
	type Guard,
	openProcessSpawner,
	RunningWorkers,
	startGuard,
	type WorkerSpawner,
	watchEscapees,
} from "../../processes/index.js";
import { type SharedImports, WarmSpawner } from "../../warm/index.js";

/** What it needs of the launcher's surroundings. */
interface SpawnerPlace {
	readonly clock: Clock;
	readonly log: Pick<Logger, "debug" | "info" | "warn">;
	readonly cleanups: Cleanups;
	/** Stands in for processes. */
	readonly standIn?: WorkerSpawner | undefined;
}

/** What starts the workers of a node. */
export interface OpenSpawner {
	readonly spawner: WorkerSpawner;
	/** Learns from workers what to import ahead; undefined if it has nothing to learn. */
	readonly imports: SharedImports | undefined;
	/** Knows how workers were started; undefined without warm starts. */
	readonly starts: StartSource | undefined;
	/** Outlives this process; undefined without processes. */
	readonly guard: Guard | undefined;
}

const NOTHING_AHEAD = { imports: undefined, starts: undefined };

/** Starts the guard of the workers' processes at once; what is returned loads the rest. Without processes there is neither. */
export function prepareSpawner(
	config: AgentConfig,
	{ directory: channelRoot }: ChannelRoot,
	incarnation: string,
	{ clock, log, cleanups, standIn }: SpawnerPlace,
): () => Promise<OpenSpawner> {
	if (standIn !== undefined) {
		return async () => ({
			...{ spawner: standIn, ...NOTHING_AHEAD },
			guard: undefined,
		});
	}
	const warn = (message: string) => log.warn(message);
	const path = config.environment.PATH;
	// Runs while the rest is loaded.
	const setpriv = findSetpriv(path);
	const mark = agentMark(incarnation);
	const guard = startGuard({ clock, channelRoot, mark, path, warn });
	cleanups.add("ending the guard", () => guard.close());
	return async () => {
		let warm: WarmSpawner | undefined;
		const isNeeded = (pid: number) => warm?.isOwn(pid) ?? false;
		const escapees = watchEscapees({ clock, mark, warn, isNeeded });
		const about = { clock, registry: guard, escapees, warn };
		const running = new RunningWorkers(about);
		const cold = await openProcessSpawner({ ...about, setpriv, running });
		if (config.warm === "off" || !config.hasHook) {
			return { spawner: cold, ...NOTHING_AHEAD, guard };
		}
		const spawner = new WarmSpawner({
			...about,
			log,
			running,
			cold,
			setpriv: await setpriv,
			workers: config.nprocPerNode,
			isFrugal: config.warm === "frugal",
			command: config.command,
			hook: nodeHook(),
		});
		warm = spawner;
		cleanups.add("ending what was started ahead", () => spawner.close());
		return { spawner, imports: spawner.imports, starts: spawner, guard };
	};
}
