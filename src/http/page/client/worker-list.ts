import { formatCount } from "../../../base/units.js";
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

/** The workers of the answering node, each with its last lines. */
export function workerList(node: NodeDocument, now: number): Tree {
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
					workers.map((worker) => drawWorker(worker, now)),
				),
	);
}

function drawWorker(worker: WorkerDocument, now: number): Tree {
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
				h("code", { class: "last" }, last ?? "no output yet"),
			),
			h("pre", { tabindex: 0 }, lines.join("\n")),
		),
	);
}
