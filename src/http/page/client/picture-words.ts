import type { NodePhase } from "../../spans.js";
import type { Timeline, TimelineIncident } from "../../timeline.js";
import type { Bar } from "./picture-layout.js";
import { plain } from "./plain.js";
import { changes, clockTime, duration } from "./words.js";

/** A node's phase in words. */
export const PHASE_WORDS: Readonly<Record<NodePhase, string>> = {
	joining: "waits or starts",
	running: "runs",
	paused: "paused",
	stopping: "ends its workers",
	finished: "finished",
	leaving: "leaves",
	spare: "spare",
	gone: "gone",
};

export const INCIDENT_WORDS: Readonly<
	Record<TimelineIncident["kind"], string>
> = {
	failure: "failure",
	"scale-down": "a node left",
	"scale-up": "a node came",
};

/** Keeps a tip about many nodes of a large run readable. */
const MOST_CHARACTERS = 600;

export function barTip(
	nodeId: string,
	{ phase, round, from, to }: Bar,
	now: number,
): string {
	const until = to ?? now;
	const range = `${clockTime(from, now)} – ${to === null ? "now" : clockTime(to, now)}`;
	return `${nodeId}: ${PHASE_WORDS[phase]}, round ${round}\n${range} (${duration(Math.max(0, until - from))})`;
}

export function roundTip(round: Timeline["rounds"][number]): string {
	const { liftedAt, reason, worldSize, nodes } = round;
	const size = `${worldSize} workers on ${nodes} ${nodes === 1 ? "node" : "nodes"}`;
	return cut(
		`round ${round.round}, ${clockTime(liftedAt, liftedAt)}: ${size}\nbegun because of: ${plain(reason)}`,
	);
}

export function incidentTip(incident: TimelineIncident): string {
	const { kind, at, round, reason, nodes, pid, hint, message } = incident;
	const came =
		kind === "failure"
			? ""
			: changes(kind === "scale-up" ? "+" : "−", nodes, reason);
	const lines = [
		`${INCIDENT_WORDS[kind]}, ${clockTime(at, at)}, round ${round}`,
		`${plain(reason)}${pid === null ? "" : ` (pid ${pid})`}${came}`,
		...(message === null ? [] : [plain(message)]),
		...(hint === null ? [] : [plain(hint)]),
	];
	return cut(lines.join("\n"));
}

function cut(text: string): string {
	return text.length <= MOST_CHARACTERS
		? text
		: `${text.slice(0, MOST_CHARACTERS)}…`;
}
