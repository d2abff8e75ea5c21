import { channelPaths, hookPaths } from "../../channel/index.js";
import {
	explainCrash,
	parseTrace,
	raisedWords,
	readCores,
	readException,
	type Trace,
	traceOf,
	traceWords,
} from "../../failures/index.js";
import {
	describeExit,
	type OomKills,
	OUT_OF_MEMORY,
	signalOf,
	type WorkerExit,
} from "../../processes/index.js";
import type { WorkerError } from "../../status/index.js";
import type { AgentInput } from "../machine/inputs.js";
import type { WorkerFiles } from "./workplace.js";

/** How many of its last lines rules are asked about. */
export const RULE_LINES = 20;

type End = Pick<
	AgentInput & { kind: "worker-exited" },
	"exitCode" | "description" | "hint" | "error" | "lastLines" | "trace"
>;

interface Known {
	readonly pid: number | null;
	readonly hint: string | undefined;
	readonly error: WorkerError | undefined;
	/** The last lines of its stderr. */
	readonly words: readonly string[];
	readonly trace: Trace | undefined;
}

/** How a worker has ended, and what is known of the reason. */
export function explainEnd(
	exit: WorkerExit,
	files: WorkerFiles | undefined,
	pid: number | null,
	oomKills: OomKills,
): End {
	const { exitCode, ...described } = describeExit(
		exit,
		files?.spec.file,
		oomKills,
	);
	const failed = exitCode === 0 ? undefined : files;
	const error = failed?.output?.readError();
	if (failed === undefined || exit.signalledByAgent) {
		return { exitCode, ...described, error, trace: traceIn(error, []) };
	}
	const words = failed.output?.readLastLines() ?? [];
	const { description, trace } = nameCause(described.description, failed, {
		...{ error, words },
	});
	const { hint } = described;
	const found = findReason(signalOf(exit), failed, {
		...{ pid, hint, error, words, trace },
	});
	const isNamed = description !== described.description;
	// That of a crash is where the process stood long after.
	const what = isNamed && signalOf(exit) ? undefined : found.what;
	const hints = [...(hint === undefined ? [] : [hint]), ...found.lines];
	const lines = words.slice(-RULE_LINES).join("\n");
	return {
		exitCode,
		description: what === undefined ? description : `${description}: ${what}`,
		hint: hints.length === 0 ? undefined : hints.join("\n"),
		error,
		lastLines: error ? undefined : lines || (trace && traceWords(trace)),
		trace,
	};
}

/** An uncaught exception says more than the exit that follows it. What the worker itself has written says as much, or more. */
function nameCause(
	exit: string,
	failed: WorkerFiles,
	{ error, words }: Pick<Known, "error" | "words">,
): { readonly description: string; readonly trace: Trace | undefined } {
	const written = traceIn(error, words);
	const raised = exceptionOf(failed);
	if (raised === undefined) return { description: exit, trace: written };
	const { cwd } = failed.spec;
	if (raised.thread !== null || !raised.ends) {
		const description = `${exit}; before, ${raisedWords(raised, cwd)}`;
		return { description, trace: written };
	}
	const trace = traceOf(raised, cwd);
	return { description: traceWords(trace), trace };
}

/** The uncaught exception that its hook reports. */
function exceptionOf({ channel, output }: WorkerFiles) {
	if (output === undefined) return undefined;
	return readException(hookPaths(channelPaths(channel.directory).hook));
}

function traceIn(
	error: WorkerError | undefined,
	words: readonly string[],
): Trace | undefined {
	return parseTrace(error?.stack ?? error?.message ?? words.join("\n"));
}

function findReason(
	signal: string | undefined,
	{ spec }: WorkerFiles,
	{ pid, hint = "", error, words, trace }: Known,
) {
	return explainCrash({
		...{ signal, pid, trace, cwd: spec.cwd },
		stderr: words.join("\n"),
		message: error?.message,
		isOutOfMemory: hint.startsWith(OUT_OF_MEMORY),
		cores: signal === undefined ? undefined : readCores(),
	});
}
