import {
	type FailureRecord,
	informationAt,
	onceEach,
	type ReplacedRecord,
	RunKeys,
	readRunView,
	SPEC,
	type Warn,
} from "../rendezvous/index.js";
import type { Snapshot } from "../store/index.js";
import { nodeBudget } from "./budgets.js";
import { describeRun } from "./describe-run.js";
import { linesOf } from "./history.js";
import type {
	NodeStatus,
	PreflightStatus,
	RestartBudget,
} from "./run-document.js";

/** What a run has to do with one node, as `elastic-run nodes` shows it. Times are milliseconds since 1970. */
export interface NodeAccount {
	readonly nodeId: string;
	/** `replaced`: it is refused until it is readmitted; `absent`: it has no agent. */
	readonly part: NodeStatus["part"] | "replaced" | "absent";
	readonly state: NodeStatus["state"];
	/** Its budget with the least left, as in `status`; null if the run's settings are unknown. */
	readonly restarts: RestartBudget | null;
	/** Incidents whose root was one of its workers, as far as the history goes back. */
	readonly failures: number;
	readonly lastFailure: FailureRecord | null;
	readonly replaced: {
		readonly at: number;
		readonly reason: string;
		/** The node that has taken its place. */
		readonly replacement: string | null;
		/** The coordinator that cared for it. */
		readonly caredForBy: string | null;
		readonly commandEnd: string | null;
	} | null;
	readonly preflight: Omit<PreflightStatus, "nodeId"> | null;
}

export interface RunAccounts {
	readonly version: 1;
	readonly runId: string;
	/** In the order of `status`, then the others by name. */
	readonly nodes: readonly NodeAccount[];
}

/** Undefined if there is no such run. */
export function accountsOf(
	runId: string,
	snapshot: Snapshot,
	wallTime: number,
	warn: Warn = () => {},
): RunAccounts | undefined {
	const keys = new RunKeys(runId);
	const once = onceEach(warn);
	const status = describeRun(runId, snapshot, wallTime, once);
	const view = readRunView(keys, snapshot, once);
	if (status === undefined || view === undefined) return undefined;
	const failures = rootsOf(snapshot, keys, once);
	const others = [
		...view.budgets.keys(),
		...(view.replaced?.keys() ?? []),
		...status.preflights.map(({ nodeId }) => nodeId),
		...failures.map(({ nodeId }) => nodeId),
	].sort();
	const present = status.nodes.map(({ nodeId }) => nodeId);
	const spec = informationAt(SPEC, snapshot, keys.spec, once);
	const nodes = [...new Set([...present, ...others])].map(
		(nodeId): NodeAccount => {
			const known = status.nodes.find((node) => node.nodeId === nodeId);
			const replaced = view.replaced?.get(nodeId);
			const preflight = status.preflights.find((one) => one.nodeId === nodeId);
			const own = failures.filter(
				(failure) => failure.nodeId === nodeId && !failure.isUnattributed,
			);
			return {
				nodeId,
				part: replaced ? "replaced" : (known?.part ?? "absent"),
				state: known?.state ?? "gone",
				restarts: nodeBudget(view, nodeId, spec, wallTime),
				failures: own.length,
				lastFailure: own.at(-1) ?? null,
				replaced: replaced ? replacementOf(replaced) : null,
				preflight: preflight
					? {
							verdict: preflight.verdict,
							findings: preflight.findings,
							at: preflight.at,
						}
					: null,
			};
		},
	);
	return { version: 1, runId, nodes };
}

function replacementOf(record: ReplacedRecord): NodeAccount["replaced"] {
	return {
		at: record.at,
		reason: record.reason,
		replacement: record.replacement ?? null,
		caredForBy: record.caredForBy ?? null,
		commandEnd: record.commandEnd ?? null,
	};
}

/** The root failures of this start of the run, oldest first, each once. */
function rootsOf(
	snapshot: Snapshot,
	keys: RunKeys,
	warn: Warn,
): readonly FailureRecord[] {
	const view = readRunView(keys, snapshot, warn);
	if (view === undefined) return [];
	const { round } = view;
	const causes = linesOf(keys, snapshot, warn)
		.filter(({ instance }) => instance === round.instance)
		.map(({ cause }) => cause);
	const roots = [...causes, round.cause, round.outcome].flatMap((cause) =>
		cause?.root ? [[cause.root.id, cause.root] as const] : [],
	);
	return [...new Map(roots).values()];
}
