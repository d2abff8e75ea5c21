import { HANG_KINDS, type HangKind, type Straggler } from "../model/index.js";
import { countIncidents } from "../rendezvous/index.js";
import {
	AGENT_PHASES,
	CATEGORY_NAMES,
	type Goodput,
	type InstanceHistory,
	type NodeNow,
	type RunDocument,
	type RunPhase,
	savedByAll,
	WORKER_STATES,
	type WorkerStatus,
} from "../status/index.js";

/** The data for the metrics of one request. */
export interface MetricSources {
	readonly nodeId: string;
	readonly node: NodeNow;
	/** Milliseconds since 1970. */
	readonly wallTime: number;
	readonly role: string;
	readonly policy: string;
	/** Undefined before the run was read. */
	readonly run: RunDocument | undefined;
	/** That of the present start of the run. */
	readonly history: InstanceHistory | undefined;
	/** Undefined before the run was read. */
	readonly goodput: Goodput | undefined;
	/** How long the last read of the store took; null if there was none. */
	readonly latencyMs: number | null;
	/** The hangs of this node's workers. */
	readonly hangs: ReadonlyMap<HangKind, number>;
}

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

export const RUN_PHASES: readonly RunPhase[] = [
	"forming",
	"running",
	"leaving",
	"waiting",
	"ended",
	"abandoned",
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
		samples: ({ node }) => alone(node.readiness.isReady ? 1 : 0),
	},
	{
		name: "elastic_run_phase",
		type: "gauge",
		help: "1 for the phase that this node is in",
		labels: ["phase"],
		samples: ({ node }) => oneOf("phase", AGENT_PHASES, node.phase),
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
		name: "elastic_run_links_heard",
		type: "gauge",
		help: "Nodes that this one hears by its links",
		labels: [],
		samples: ({ node }) => alone(node.links?.heard.length),
	},
	{
		name: "elastic_run_links_suspected",
		type: "gauge",
		help: "Nodes that this one was linked with and does not hear",
		labels: [],
		samples: ({ node }) => alone(node.links?.suspected.length),
	},
	{
		name: "elastic_run_riding_out_seconds",
		type: "gauge",
		help: "How long this node's round has gone on without the store; 0: it has it",
		labels: [],
		samples: ({ node, wallTime }) => {
			const { riding = null } = node.links ?? {};
			const since = riding?.since ?? wallTime;
			return alone(node.links && Math.max(0, wallTime - since) / 1000);
		},
	},
	{
		name: "elastic_run_round",
		type: "gauge",
		help: "The newest round whose workers may run; 0 before the first",
		labels: [],
		samples: ({ node }) => alone(node.round?.synced),
	},
	{
		name: "elastic_run_world_size",
		type: "gauge",
		help: "Workers of that round, on all nodes",
		labels: [],
		samples: ({ node }) => alone(node.round?.world?.worldSize),
	},
	{
		name: "elastic_run_nodes",
		type: "gauge",
		help: "Nodes of that round",
		labels: [],
		samples: ({ node }) => alone(node.round?.world?.groupWorldSize),
	},
	{
		name: "elastic_run_incidents_total",
		type: "counter",
		help: "Incidents of this start of the run: failures that belong together count once",
		labels: [],
		samples: ({ node: { round } }) => alone(round && countIncidents(round)),
	},
	{
		name: "elastic_run_restarts_total",
		type: "counter",
		help: "What the run's budget of restarts was charged",
		labels: [],
		samples: ({ node }) => alone(node.round?.charged),
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

/** One sample for each worker of this node that has made a step. */
function ofWorkers(
	{ run, nodeId }: MetricSources,
	samplesOf: (worker: WorkerStatus) => readonly Sample[],
): readonly Sample[] {
	const node = run?.nodes.find((one) => one.nodeId === nodeId);
	return node?.workers.flatMap(samplesOf) ?? [];
}

function ofStraggler(
	{ run }: MetricSources,
	numberOf: (straggler: Straggler) => number,
): readonly Sample[] {
	const straggler = run?.straggler ?? null;
	if (straggler === null) return [];
	const { rank, node } = straggler;
	return [[{ rank: String(rank), node }, numberOf(straggler)]];
}

const rankOf = ({ rank }: WorkerStatus) => ({ rank: String(rank ?? "") });

/** Metrics of the steps of this node's workers, and of the rank that all wait for. */
const STEP_METRICS: readonly Metric[] = [
	{
		name: "elastic_run_step",
		type: "gauge",
		help: "The last step of each of this node's workers in the newest round",
		labels: ["rank"],
		samples: (sources) =>
			ofWorkers(sources, (worker) => [[rankOf(worker), worker.step]]),
	},
	{
		name: "elastic_run_seconds_since_last_step",
		type: "gauge",
		help: "How long ago each of this node's workers made its last step",
		labels: ["rank"],
		samples: (sources) =>
			ofWorkers(sources, (worker) => [
				[rankOf(worker), worker.secondsSinceStep],
			]),
	},
	{
		name: "elastic_run_behind_seconds",
		type: "gauge",
		help: "How long each rank of the run that is behind has made no step, while others of its role do",
		labels: ["rank", "node"],
		samples: ({ run }) =>
			(run?.behind ?? []).map(({ rank, node, seconds }) => [
				{ rank: String(rank), node },
				seconds,
			]),
	},
	{
		name: "elastic_run_steps_per_second",
		type: "gauge",
		help: "The rate of steps of each of this node's workers",
		labels: ["rank"],
		samples: (sources) =>
			ofWorkers(sources, (worker) =>
				worker.stepRate === null ? [] : [[rankOf(worker), worker.stepRate]],
			),
	},
	{
		name: "elastic_run_hangs_total",
		type: "counter",
		help: "How often this node's workers stood still, by what was found out about the suspect",
		labels: ["kind"],
		samples: ({ hangs }) =>
			HANG_KINDS.map((kind) => [{ kind }, hangs.get(kind) ?? 0]),
	},
	{
		name: "elastic_run_straggler_seconds_per_step",
		type: "gauge",
		help: "What each step of the run loses to the rank that all others wait for",
		labels: ["rank", "node"],
		samples: (sources) =>
			ofStraggler(sources, ({ lostSecondsPerStep }) => lostSecondsPerStep),
	},
	{
		name: "elastic_run_straggler_lost_seconds",
		type: "gauge",
		help: "What all steps have lost to that rank since it was noticed",
		labels: ["rank", "node"],
		samples: (sources) => ofStraggler(sources, (one) => one.lostSeconds),
	},
	{
		name: "elastic_run_reported",
		type: "gauge",
		help: "The numbers that each of this node's workers reported with its last step",
		labels: ["rank", "number"],
		samples: (sources) =>
			ofWorkers(sources, (worker) =>
				Object.entries(worker.metrics).map(
					([number, value]): Sample => [{ ...rankOf(worker), number }, value],
				),
			),
	},
];

/** Metrics of what the time of this start of the run was spent on. They may go down: time is unknown until its step is made. */
const LEDGER_METRICS: readonly Metric[] = [
	{
		name: "elastic_run_node_seconds",
		type: "gauge",
		help: "Node-seconds of this start of the run, by what they were spent on; all categories add up to all of it",
		labels: ["category"],
		samples: ({ goodput }) =>
			goodput === undefined
				? []
				: CATEGORY_NAMES.map(
						(category): Sample => [{ category }, goodput.ledger[category]],
					),
	},
	{
		name: "elastic_run_goodput_ratio",
		type: "gauge",
		help: "Productive node-seconds by all of them, 0 to 1",
		labels: [],
		samples: ({ goodput }) =>
			goodput?.goodput == null ? [] : [[{}, goodput.goodput]],
	},
];

/** Metrics of warm starts; none without warm starts. */
const START_METRICS: readonly Metric[] = [
	{
		name: "elastic_run_warm_saved_seconds",
		type: "gauge",
		help: "What warm starts of this start of the run have saved, against the cold starts before them",
		labels: [],
		samples: ({ history }) => {
			const savedMs = savedByAll(history?.rounds ?? []);
			return savedMs === null ? [] : [[{}, savedMs / 1000]];
		},
	},
	{
		name: "elastic_run_warm_helper_memory_bytes",
		type: "gauge",
		help: "Private memory of the process that has this node's imports, when they were done",
		labels: [],
		samples: ({ run, nodeId }) => {
			const node = run?.nodes.find((one) => one.nodeId === nodeId);
			const bytes = node?.nextStart?.bytes;
			return bytes === undefined ? [] : [[{}, bytes]];
		},
	},
];

/** Metrics computed for each request. */
export const METRICS: readonly Metric[] = [
	...OWN,
	...SHARED,
	...STEP_METRICS,
	...LEDGER_METRICS,
	...START_METRICS,
];
