import { formatCount } from "../../../base/units.js";
import {
	backWords,
	budgetOwner,
	forEachOwner,
	leftOfRoles,
	windowOf,
} from "../../../rendezvous/describe/budget-words.js";
import type {
	IncidentStatus,
	RunStatus,
} from "../../../rendezvous/describe/run-status.js";
import type { Timeline } from "../../timeline.js";
import type { Model } from "./model.js";
import { type Child, h, type Tree } from "./tree.js";
import { ago, clockTime, duration } from "./words.js";

/** The run in figures. */
export function figures({ document, now }: Model): Child {
	const run = document?.run ?? null;
	if (run === null) return null;
	const { world, minNodes, maxNodes, incidents, round } = run;
	const told = document?.history?.instances.find(
		({ instance }) => instance === run.instance,
	);
	const asked =
		minNodes === maxNodes ? `${maxNodes}` : `${minNodes} to ${maxNodes}`;
	const share = told?.ranShare ?? null;
	const repairs = told?.repairs;
	return h(
		"dl",
		{ class: "figures" },
		figure(
			"round",
			round === 0 ? "–" : String(round),
			run.since === null
				? ""
				: `${run.phase} since ${clockTime(run.since, now)}`,
		),
		figure(
			"workers",
			String(world?.worldSize ?? "–"),
			world
				? `on ${formatCount(world.groupWorldSize, "node")}, ${asked} asked for`
				: `${asked} nodes asked for`,
		),
		restartsFigure(run, now),
		figure(
			"incidents",
			String(incidents),
			besideIncidents(document?.timeline ?? null, run.lastIncident, now),
		),
		figure(
			"workers ran",
			share === null ? "–" : `${(share * 100).toFixed(1)} %`,
			told ? `of ${duration(told.elapsedMs)}` : "",
		),
		figure(
			"mean repair",
			duration(repairs?.meanMs ?? null),
			repairs?.longestMs == null
				? ""
				: `longest ${duration(repairs.longestMs)}`,
		),
	);
}

/** Where each node or worker has a budget of its own, what is left stands beside the nodes. */
function restartsFigure(run: RunStatus, now: number): Tree {
	const { restarts, roleRestarts = {}, policy } = run;
	if (restarts === null) return figure("restarts left", "–", "");
	const owner = budgetOwner(policy);
	const allowed = `${restarts.allowed}${windowOf(restarts)}`;
	const own =
		owner === undefined
			? `of ${allowed}${backWords(restarts, now)}, policy ${policy ?? ""}`
			: `${forEachOwner(restarts, allowed, owner)}, policy ${policy ?? ""}`;
	return figure(
		"restarts left",
		owner === undefined ? `${restarts.left}` : "–",
		[own, ...leftOfRoles(roleRestarts, now)].join("; "),
	);
}

function figure(name: string, value: string, more: string): Tree {
	return h(
		"div",
		{},
		h("dt", {}, name),
		h("dd", { class: "value" }, value),
		h("dd", { class: "more" }, more),
	);
}

/** Rounds may end without an incident; the figure says so. */
function besideIncidents(
	timeline: Timeline | null,
	last: IncidentStatus | null,
	now: number,
): string {
	const changes = (timeline?.incidents ?? []).filter(
		({ kind }) => kind !== "failure",
	);
	return [
		...(last?.at == null ? [] : [`last ${ago(last.at, now)} ago`]),
		...(changes.length === 0
			? []
			: [`nodes came or left ${formatCount(changes.length, "time")}`]),
	].join(", ");
}
