import type { AgentState } from "../agent/machine/state.js";
import type { Goodput } from "../goodput/describe-goodput.js";
import type { HangKind } from "../model/hang.js";
import type { InstanceHistory } from "../rendezvous/describe/describe-history.js";
import type { RunPhase, RunStatus } from "../rendezvous/describe/run-status.js";
import { countIncidents } from "../rendezvous/records/budgets.js";
import { type OwnNode, readinessOf } from "./own-node.js";
import type { WorkerState } from "./status-document.js";

/** The data for the metrics of one request. */
export interface MetricSources {
	readonly nodeId: string;
	readonly node: OwnNode;
	/** Milliseconds since 1970. */
	readonly wallTime: number;
	readonly role: string;
	readonly policy: string;
	/** Undefined before the run was read. */
	readonly run: RunStatus | undefined;
	/** That of the present start of the run. */
	readonly history: InstanceHistory | undefined;
	/** Undefined before the run was read. */
	readonly goodput: Goodput | undefined;
	/** How long the last read of the store took; null if there was none. */
	readonly latencyMs: number | null;
	/** The hangs of this node's workers. */
	readonly hangs: ReadonlyMap<HangKind, number>;
}

/** One number with its labels. */
export type Sample = readonly [
	labels: Readonly<Record<string, string>>,
	value: number,
];

/** One row of docs/http.md; an unknown value has no sample. */
export interface Metric {
	readonly name: string;
	readonly type: "gauge" | "counter";
	readonly help: string;
	readonly labels: readonly string[];
	readonly samples: (sources: MetricSources) => readonly Sample[];
}

const NODE_PHASES: readonly AgentState["phase"][] = [
	...(["JOINING", "RUNNING", "STOPPING", "FINISHED", "CLOSED"] as const),
];
const RUN_PHASES: readonly RunPhase[] = [
	...([
		"forming",
		"running",
		"leaving",
		"waiting",
		"ended",
		"abandoned",
	] as const),
];
const WORKER_STATES: readonly WorkerState[] = [
	...([
		"starting",
		"running",
		"pausing",
		"paused",
		"stopping",
		"ended",
	] as const),
];

/** 1 for the present value, 0 for all other possible values. */
function oneOf<Value extends string>(
	label: string,
	all: readonly Value[],
	present: Value,
): readonly Sample[] {
	return all.map((value) => [{ [label]: value }, value === present ? 1 : 0]);
}

function alone(value: number | null | undefined): readonly Sample[] {
	return value === null || value === undefined ? [] : [[{}, value]];
}

/** Metrics of this node, which are always known. */
const OWN: readonly Metric[] = [
	{
		name: "elastic_run_info",
		type: "gauge",
		help: "Always 1; what this agent was started with",
		labels: ["role", "policy"],
		samples: ({ role, policy }) => [[{ role, policy }, 1]],
	},
	{
		name: "elastic_run_ready",
		type: "gauge",
		help: "Whether this node's workers run in a round that all have begun, as /readyz says",
		labels: [],
		samples: ({ node, wallTime }) =>
			alone(readinessOf(node, wallTime).isReady ? 1 : 0),
	},
	{
		name: "elastic_run_phase",
		type: "gauge",
		help: "1 for the phase that this node is in",
		labels: ["phase"],
		samples: ({ node }) => oneOf("phase", NODE_PHASES, node.state.phase),
	},
	{
		name: "elastic_run_workers",
		type: "gauge",
		help: "This node's workers by state",
		labels: ["state"],
		samples: ({ node }) =>
			WORKER_STATES.map((state) => [
				{ state },
				node.workers.filter((worker) => worker.state === state).length,
			]),
	},
	{
		name: "elastic_run_seconds_since_last_event",
		type: "gauge",
		help: "Since this node's phase, its round or one of its workers changed",
		labels: [],
		samples: ({ node, wallTime }) =>
			alone(Math.max(0, wallTime - node.eventAt) / 1000),
	},
	{
		name: "elastic_run_round",
		type: "gauge",
		help: "The newest round whose workers may run; 0 before the first",
		labels: [],
		samples: ({ node }) => alone(node.state.view?.round.synced),
	},
	{
		name: "elastic_run_world_size",
		type: "gauge",
		help: "Workers of that round, on all nodes",
		labels: [],
		samples: ({ node }) => alone(node.state.view?.round.world?.worldSize),
	},
	{
		name: "elastic_run_nodes",
		type: "gauge",
		help: "Nodes of that round",
		labels: [],
		samples: ({ node }) => alone(node.state.view?.round.world?.groupWorldSize),
	},
	{
		name: "elastic_run_incidents_total",
		type: "counter",
		help: "Incidents of this start of the run: failures that belong together count once",
		labels: [],
		samples: ({ node }) => {
			const round = node.state.view?.round;
			return alone(round && countIncidents(round));
		},
	},
	{
		name: "elastic_run_restarts_total",
		type: "counter",
		help: "What the run's budget of restarts was charged",
		labels: [],
		samples: ({ node }) => alone(node.state.view?.round.charged),
	},
];

/** Metrics of the run, from the store. */
const SHARED: readonly Metric[] = [
	{
		name: "elastic_run_restarts_left",
		type: "gauge",
		help: "What is left of the run's budget of restarts",
		labels: [],
		samples: ({ run }) => alone(run?.restarts?.left),
	},
	{
		name: "elastic_run_run_phase",
		type: "gauge",
		help: "1 for the phase that the run is in, as elastic-run status says",
		labels: ["phase"],
		samples: ({ run }) =>
			run === undefined ? [] : oneOf("phase", RUN_PHASES, run.phase),
	},
	{
		name: "elastic_run_running_ratio",
		type: "gauge",
		help: "Part of the time in which all workers of a round ran, 0 to 1, since this start of the run",
		labels: [],
		samples: ({ history }) => alone(history?.ranShare),
	},
	{
		name: "elastic_run_store_latency_seconds",
		type: "gauge",
		help: "How long the last read of the store for observers took",
		labels: [],
		samples: ({ latencyMs }) =>
			alone(latencyMs === null ? null : latencyMs / 1000),
	},
];

/** Metrics computed for each request. */
export const METRICS: readonly Metric[] = [...OWN, ...SHARED];
