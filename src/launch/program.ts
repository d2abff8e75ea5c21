import { ElasticRunError } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import type { LaunchConfig as RunConfig } from "../config/index.js";
import type { RunReport } from "../status/index.js";
import type { AgentStatus } from "./agent-status.js";

/** What to run and how, and who hears of it. */
export interface LaunchConfig extends RunConfig {
	/** Gets the launcher's log in place of stderr; `false`: nobody does. The file `agent.log` has it all the same. */
	readonly log?: false | Logger | undefined;
	/** Called after each change of the phase, the round or a worker of this node. */
	readonly onEvent?: ((status: AgentStatus) => void) | undefined;
}

/** A launch that goes on; it resolves as a promise of its result does. */
export interface LaunchedAgent extends Promise<RunReport> {
	/** Null before this node has joined its run. */
	status(): AgentStatus | null;
	/** Makes this node leave its run in order, as `signal` does. */
	stop(): void;
}

export function startAgent(config: LaunchConfig): LaunchedAgent {
	const stop = new AbortController();
	let latest: AgentStatus | null = null;
	const start = async () => {
		const { log, onEvent, ...run } = { ...config };
		refuseOdd({ log, onEvent });
		const { launch } = await import("./launch.js");
		// What is no map is refused there, in words.
		const isMap = typeof config === "object" && config !== null;
		return launch(isMap ? run : config, {
			log,
			insistSignal: stop.signal,
			onNode: (status) => {
				latest = status;
				return onEvent?.(status);
			},
		});
	};
	return Object.assign(start(), {
		status: () => latest,
		stop: () => stop.abort(),
	});
}

/** Untyped callers may pass anything. */
function refuseOdd({ log, onEvent }: Pick<LaunchConfig, "log" | "onEvent">) {
	const isLog =
		!log ||
		[log.debug, log.info, log.warn, log.error].every(
			(method) => typeof method === "function",
		);
	const problems = [
		...(isLog ? [] : ["log: expected false, or debug, info, warn and error"]),
		...(onEvent === undefined || typeof onEvent === "function"
			? []
			: ["onEvent: expected a function"]),
	];
	if (problems.length > 0)
		throw new ElasticRunError("USAGE", problems.join("\n"));
}
