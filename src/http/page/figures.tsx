import { formatCount } from "../../base/units.js";
import {
	backWords,
	budgetOwner,
	forEachOwner,
	leftOfRoles,
	type RunDocument,
	windowOf,
} from "../../status/index.js";
import type { StatusDocument } from "../status-document.js";
import type { SectionProps } from "./model.js";
import { ago, clockTime, duration } from "./words.js";

type Figure = readonly [name: string, value: string | number, more: string];

export function Figures({ document, model }: SectionProps) {
	const { run } = document;
	if (run === null) return null;
	const figures = [
		roundFigure(run, model.now),
		workersFigure(run),
		restartsFigure(run, model.now),
		incidentsFigure(run, document.timeline, model.now),
		...historyFigures(run, document.history),
	];
	return (
		<dl class="figures">
			{figures.map(([name, value, more]) => (
				<div key={name}>
					<dt>{name}</dt>
					<dd>{value}</dd>
					<small>{more}</small>
				</div>
			))}
		</dl>
	);
}

function roundFigure(
	{ round, phase, since }: RunDocument,
	now: number,
): Figure {
	const more = since === null ? "" : `${phase} since ${clockTime(since, now)}`;
	return ["round", round === 0 ? "–" : round, more];
}

function workersFigure({ world, minNodes, maxNodes }: RunDocument): Figure {
	const wanted =
		minNodes === maxNodes ? `${maxNodes}` : `${minNodes} to ${maxNodes}`;
	if (world === null) return ["workers", "–", `${wanted} nodes asked for`];
	const nodes = formatCount(world.groupWorldSize, "node");
	return ["workers", world.worldSize, `on ${nodes}, ${wanted} asked for`];
}

/** Where each node or worker has a budget of its own, what is left stands beside the nodes. */
function restartsFigure(run: RunDocument, now: number): Figure {
	const { restarts, roleRestarts = {}, policy } = run;
	if (restarts === null) return ["restarts left", "–", ""];
	const owner = budgetOwner(policy);
	const allowed = `${restarts.allowed}${windowOf(restarts)}`;
	const own =
		owner === undefined
			? `of ${allowed}${backWords(restarts, now)}`
			: forEachOwner(restarts, allowed, owner);
	const roles = leftOfRoles(roleRestarts, now);
	const more = [`${own}, policy ${policy ?? ""}`, ...roles].join("; ");
	return ["restarts left", owner === undefined ? restarts.left : "–", more];
}

/** Rounds may end without an incident; the figure says so. */
function incidentsFigure(
	{ incidents, lastIncident }: RunDocument,
	timeline: StatusDocument["timeline"],
	now: number,
): Figure {
	const ends = timeline?.incidents ?? [];
	const changes = ends.filter(({ kind }) => kind !== "failure").length;
	const times = formatCount(changes, "time");
	const more = [
		lastIncident?.at ? `last ${ago(lastIncident.at, now)} ago` : "",
		changes > 0 ? `nodes came or left ${times}` : "",
	];
	return ["incidents", incidents, more.filter((words) => words).join(", ")];
}

function historyFigures(
	{ instance }: RunDocument,
	history: StatusDocument["history"],
): readonly Figure[] {
	const whole = history?.instances.find((one) => one.instance === instance);
	const { ranShare = null, elapsedMs = null, repairs } = whole ?? {};
	const { meanMs = null, longestMs = null } = repairs?.toStep ?? repairs ?? {};
	const share = ranShare === null ? "–" : `${(ranShare * 100).toFixed(1)} %`;
	const more =
		longestMs === null
			? []
			: [
					`longest ${duration(longestMs)}`,
					...(repairs?.toStep
						? [
								`to a step beyond; workers ran after ${duration(repairs.meanMs)}`,
							]
						: []),
				];
	return [
		["workers ran", share, whole ? `of ${duration(elapsedMs)}` : ""],
		["mean repair", duration(meanMs), more.join(", ")],
	];
}
