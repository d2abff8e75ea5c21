import { HANG_KINDS } from "../model/hang.js";
import type { Straggler } from "../model/step.js";
import type { WorkerStatus } from "../rendezvous/describe/run-status.js";
import type { Metric, MetricSources, Sample } from "./metric-values.js";

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
export const STEP_METRICS: readonly Metric[] = [
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
