import { CATEGORY_NAMES } from "../goodput/categories.js";
import type { Metric, Sample } from "./metric-values.js";

/** Metrics of what the time of this start of the run was spent on. They may go down: time is unknown until its step is made. */
export const LEDGER_METRICS: readonly Metric[] = [
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
