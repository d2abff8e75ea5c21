import { explainCrash } from "../../evidence/explain-crash.js";
import { parseTrace } from "../../evidence/parse-trace.js";
import { readCores } from "../../evidence/read-cores.js";
import type { WorkerError } from "../../report/run-report.js";
import {
	describeExit,
	type OomKills,
	OUT_OF_MEMORY,
	signalOf,
} from "../../supervision/describe-exit.js";
import type { WorkerExit } from "../../supervision/worker.js";
import type { AgentInput } from "../machine/inputs.js";
import type { PreparedWorker } from "./prepared-worker.js";

/** How many of its last lines rules are asked about. */
export const RULE_LINES = 20;

type End = Pick<
	AgentInput & { kind: "worker-exited" },
	"exitCode" | "description" | "hint" | "error" | "lastLines" | "trace"
>;

/** How a worker has ended, and what is known of the reason. */
export function explainEnd(
	exit: WorkerExit,
	prepared: PreparedWorker | undefined,
	pid: number | null,
	oomKills: OomKills,
): End {
	const described = describeExit(exit, prepared?.spec.file, oomKills);
	const { exitCode, description, hint } = described;
	const failed = exitCode === 0 ? undefined : prepared;
	const error = failed?.readError();
	const words = exit.signalledByAgent ? [] : (failed?.readLastLines() ?? []);
	const found =
		failed === undefined || exit.signalledByAgent
			? { what: undefined, lines: [] }
			: findReason(signalOf(exit), failed, { pid, hint, error, words });
	const hints = [...(hint === undefined ? [] : [hint]), ...found.lines];
	return {
		exitCode,
		description:
			found.what === undefined ? description : `${description}: ${found.what}`,
		hint: hints.length === 0 ? undefined : hints.join("\n"),
		error,
		lastLines: error ? undefined : words.slice(-RULE_LINES).join("\n"),
		trace: parseTrace(error?.stack ?? error?.message ?? words.join("\n")),
	};
}

function findReason(
	signal: string | undefined,
	{ spec }: PreparedWorker,
	known: {
		readonly pid: number | null;
		readonly hint: string | undefined;
		readonly error: WorkerError | undefined;
		readonly words: readonly string[];
	},
) {
	const { pid, hint = "", error, words } = known;
	return explainCrash({
		...{ signal, pid, cwd: spec.cwd },
		stderr: words.join("\n"),
		message: error?.message,
		isOutOfMemory: hint.startsWith(OUT_OF_MEMORY),
		cores: signal === undefined ? undefined : readCores(),
	});
}
