import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import { stopRun } from "../rendezvous/member/write-stop.js";
import { RunKeys } from "../rendezvous/records/keys.js";
import { type Answer, json, words } from "./answer.js";
import type { Observer } from "./observer.js";

/** The exit code of an agent that was told to leave: as by SIGTERM, which `elastic-run leave` sends. */
const LEFT_EXIT_CODE = 143;

/** Makes the agent leave its run, as a signal does: its workers have their grace period. */
export type Leave = (stop: {
	readonly exitCode: number;
	readonly reason: string;
}) => void;

/** `POST /leave`: this node leaves, and the run continues elsewhere if enough nodes are left. */
export function leaveNode({ name }: Observer, leave: Leave): Answer {
	leave({ exitCode: LEFT_EXIT_CODE, reason: "POST /leave" });
	return json(202, { version: 1, ...name, exitCode: LEFT_EXIT_CODE });
}

/** `POST /stop`: the run ends on all nodes, as by `elastic-run stop`. */
export async function endRun(
	{ run, name }: Observer,
	clock: Clock,
): Promise<Answer> {
	if (run === undefined) {
		return words(409, "this agent has not joined its run yet; try again");
	}
	const { runId, nodeId } = run.config;
	const keys = new RunKeys(runId);
	const reason = `POST /stop on ${nodeId}`;
	try {
		const stopped = await stopRun({ store: run.store, keys, clock, reason });
		return stopped === undefined
			? words(409, `there is no run ${name.runId} any more`)
			: json(202, { version: 1, runId, ...stopped });
	} catch (error) {
		return words(503, `${messageOf(error)}; it may be stopped all the same`);
	}
}
