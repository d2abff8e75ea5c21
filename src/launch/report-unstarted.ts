import type { Ending } from "../agent/machine/state.js";
import { buildReport } from "../agent/presence/build-report.js";
import type { AgentConfig } from "../config/agent-config.js";
import type { RoundRecord } from "../rendezvous/records/records.js";
import type { RunReport } from "../status/report.js";

/**
 * The report of an agent that has started no worker.
 * @param wallTime milliseconds since 1970
 * @param round the run's round, if it was seen
 */
export function reportUnstarted(
	ending: Ending,
	config: AgentConfig,
	wallTime: number,
	round: RoundRecord | null = null,
): RunReport {
	return buildReport({
		config,
		ending,
		round,
		...{ instance: round?.instance ?? 0, wallTime },
		rounds: [],
		workers: [],
		progress: [],
		stuck: [],
		ownBudget: null,
		startsIn: () => undefined,
		wordsOf: () => undefined,
		logDir: null,
	});
}
