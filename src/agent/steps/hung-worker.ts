import { lastLines } from "../../logs/last-lines.js";
import type { AgentInput } from "../machine/inputs.js";
import { RULE_LINES } from "../workers/explain-end.js";
import type { WorkerProcess } from "../workers/worker-process.js";

/** What the agent's input tells of the process that hangs, for rules and the report. `now` on the agent's clock. */
export function hungWorker(
	{ localRank, pid, startedAt, logs }: WorkerProcess,
	now: number,
): Pick<
	AgentInput & { kind: "worker-hung" },
	"localRank" | "pid" | "uptimeMs" | "lastLines"
> {
	const stderr = logs?.stderr;
	const lines =
		stderr &&
		lastLines(stderr.file, { from: stderr.startBytes, count: RULE_LINES });
	return {
		...{ localRank, pid, uptimeMs: Math.round(now - (startedAt ?? now)) },
		lastLines: lines?.join("\n"),
	};
}
