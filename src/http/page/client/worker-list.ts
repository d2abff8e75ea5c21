import { formatCount } from "../../../base/units.js";
import type {
	RunStatus,
	WorkerStatus,
} from "../../../rendezvous/describe/run-status.js";
import { stepsInWords } from "../../../rendezvous/describe/steps-words.js";
import type { NodeDocument, WorkerDocument } from "../../status-document.js";
import { plain } from "./plain.js";
import { section } from "./table.js";
import { h, type Tree } from "./tree.js";
import { ago } from "./words.js";

/** Workers' states use the nodes' signs. */
const SIGNS: Readonly<Record<WorkerDocument["state"], string>> = {
	starting: "joining",
	running: "running",
	pausing: "stopping",
	paused: "paused",
	stopping: "stopping",
	ended: "gone",
};

/** Of the numbers that a worker reports with a step. */
const MOST_NUMBERS = 3;

/** The workers of the answering node, each with its last lines. */
export function workerList(
	node: NodeDocument,
	run: RunStatus | null,
	now: number,
): Tree {
	const told = run?.nodes.find(({ nodeId }) => nodeId === node.nodeId);
	const stepsOf = (localRank: number) =>
		told?.workers.find((worker) => worker.localRank === localRank);
	const { workers, nodeId, pid, phase, since } = node;
	const note = `${formatCount(workers.length, "worker")}; launcher ${pid}, ${phase.toLowerCase()}, since ${ago(since, now)}`;
	return section(
		"workers",
		`Workers of ${nodeId}`,
		h("span", { class: "note" }, note),
		workers.length === 0
			? h("p", { class: "empty" }, "It has no workers at present.")
			: h(
					"ul",
					{ class: "workers" },
					workers.map((worker) =>
						drawWorker(worker, stepsOf(worker.localRank), now),
					),
				),
	);
}

function drawWorker(
	worker: WorkerDocument,
	steps: WorkerStatus | undefined,
	now: number,
): Tree {
	const { localRank, rank, role, pid, state, since } = worker;
	const lines = worker.lastLines.map(plain);
	const last = lines.at(-1);
	const more = `, local rank ${localRank}${role === "default" ? "" : `, ${role}`}`;
	return h(
		"li",
		{ "data-key": String(localRank) },
		h(
			"details",
			{},
			h(
				"summary",
				{},
				h("span", { class: "rank" }, `rank ${rank}`),
				h("span", { class: `state ${SIGNS[state]}` }, state),
				h(
					"span",
					{ class: "facts" },
					`${ago(since, now)}, pid ${pid ?? "–"}`,
					h("span", { class: "wide" }, more),
				),
				steps ? h("span", { class: "facts" }, progressInWords(steps)) : null,
				h("code", { class: "last" }, last ?? "no output yet"),
			),
			h("pre", { tabindex: 0 }, lines.join("\n")),
		),
	);
}

/** "step 1234 (2.5/s), 3.0 s ago, loss 0.25". */
function progressInWords(steps: WorkerStatus): string {
	const numbers = Object.entries(steps.metrics)
		.slice(0, MOST_NUMBERS)
		.map(([name, value]) => `, ${name} ${Number(value.toPrecision(4))}`);
	return plain(`step ${stepsInWords([steps])}${numbers.join("")}`);
}
