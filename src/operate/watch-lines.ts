import { formatCount } from "../base/units.js";
import { plainMessage } from "../logs/plain-text.js";
import type { RunStatus } from "../rendezvous/describe/run-status.js";
import type { FoundRun } from "./status/describe-runs.js";

/** The time left of a wait changes all the time, and is no news. */
const TIME_LEFT = /; \d+ s left$/;

/** A run's state in one line, which changes only with the state. */
export function watchLine(status: RunStatus): string {
	return plainMessage(`run ${status.runId}: ${standing(status)}`);
}

function standing(status: RunStatus): string {
	const { phase, outcome, round, waiting, nodes, lastIncident } = status;
	switch (phase) {
		case "ended":
			return outcome === null
				? "ended"
				: `${outcome.result}: ${outcome.reason}`;
		case "abandoned":
			return "not ended, but has no agents";
		case "running": {
			const spares = nodes.filter(({ part }) => part === "spare").length;
			const world = status.world
				? `: ${formatCount(status.world.worldSize, "worker")} on ${formatCount(status.world.groupWorldSize, "node")}`
				: "";
			const more = spares > 0 ? `, ${formatCount(spares, "spare")}` : "";
			const wait = waiting ? `; ${waiting.words.replace(TIME_LEFT, "")}` : "";
			return `round ${round} runs${world}${more}${wait}`;
		}
		case "forming":
		case "waiting":
			return waiting?.words.replace(TIME_LEFT, "") ?? "between two rounds";
		case "leaving": {
			const cause =
				lastIncident?.round === round ? `: ${lastIncident.reason}` : "";
			return `round ${round} is being left${cause}`;
		}
		default:
			return phase satisfies never;
	}
}

/** The same as JSON without what changes all the time: equal texts mean equal states. */
export function fingerprint({ status, place }: FoundRun): string {
	const { waiting, ...others } = status;
	const missing = waiting && [waiting.missing, waiting.needed];
	return JSON.stringify([place, others, missing]);
}
