import type { Timeline, TimelineIncident } from "../../timeline.js";
import { markShape } from "./picture-stops.js";
import { INCIDENT_WORDS } from "./picture-words.js";
import { plain } from "./plain.js";
import { section, table } from "./table.js";
import { type Child, h, type Tree } from "./tree.js";
import { changes, clockTime } from "./words.js";

/** The ends of rounds, newest first. */
export function incidentList(
	{ incidents, dropped }: Timeline,
	now: number,
): Tree {
	const more =
		dropped.incidents > 0
			? `, ${dropped.incidents} earlier ones are not kept`
			: "";
	const count =
		incidents.length === 1 ? "1 entry" : `${incidents.length} entries`;
	return section(
		"incidents",
		"What ended rounds",
		h("span", { class: "note" }, `${count}${more}`),
		incidents.length === 0
			? h("p", { class: "empty" }, "Nothing has ended a round.")
			: table(
					"What ended rounds",
					[
						{
							name: "when",
							cell: ({ at }) => clockTime(at, now),
							kind: "number",
						},
						{ name: "what", cell: kindOf, kind: "kind" },
						{
							name: "round",
							cell: ({ round }) => String(round),
							kind: "number",
						},
						{ name: "why", cell: whyOf, kind: "text" },
					],
					incidents.toReversed(),
					({ at, round, reason }) => [at, round, reason].join("/"),
				),
	);
}

function kindOf({ kind }: TimelineIncident): readonly Child[] {
	return [
		h(
			"svg",
			{
				...{ class: "sign", width: 12, height: 12, viewBox: "-8 -8 16 16" },
				"aria-hidden": "true",
			},
			markShape(kind),
		),
		` ${INCIDENT_WORDS[kind]}`,
	];
}

function whyOf(incident: TimelineIncident): readonly Child[] {
	const { reason, pid, hint, message, kind, nodes } = incident;
	const more = [message, hint].filter((each) => each !== null).map(plain);
	return [
		`${plain(reason)}${pid === null ? "" : ` (pid ${pid})`}`,
		kind === "failure"
			? null
			: h(
					"span",
					{ class: "changes" },
					changes(kind === "scale-up" ? "+" : "−", nodes, reason),
				),
		...more.map((text) => h("span", { class: "hint" }, text)),
	];
}
