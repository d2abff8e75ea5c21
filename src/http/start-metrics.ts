import { savedByAll } from "../rendezvous/describe/measure-starts.js";
import type { Metric } from "./metric-values.js";

/** Metrics of warm starts; none without `--warm auto`. */
export const START_METRICS: readonly Metric[] = [
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
