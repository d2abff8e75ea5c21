import type { TimelineIncident } from "../../status/index.js";
import type { SectionProps } from "./model.js";
import { type Column, Section, Table } from "./parts.js";
import { IncidentSign } from "./time-line.js";
import { changes, clockTime, plain, withPid } from "./words.js";

/** The ends of rounds, newest first. */
export function Incidents({ document, model }: SectionProps) {
	if (document.timeline === null) return null;
	const { incidents, dropped } = document.timeline;
	const count =
		incidents.length === 1 ? "1 entry" : `${incidents.length} entries`;
	const more =
		dropped.incidents > 0
			? `, ${dropped.incidents} earlier ones are not kept`
			: "";
	const columns: readonly Column<TimelineIncident>[] = [
		["when", "number", ({ at }) => clockTime(at, model.now)],
		["what", "soft", ({ kind }) => <IncidentSign kind={kind} />],
		["round", "number", ({ round }) => round],
		["why", "text", (incident) => <Reason incident={incident} />],
	];
	return (
		<Section id="incidents" title="What ended rounds" note={`${count}${more}`}>
			<Table
				columns={columns}
				rows={incidents.toReversed()}
				keyOf={({ at, round, reason }) => [at, round, reason].join("/")}
				empty={emptyWords(document.run)}
			/>
		</Section>
	);
}

function emptyWords(run: SectionProps["document"]["run"]): string {
	const isOver = run?.phase === "leaving" || run?.phase === "waiting";
	return isOver
		? `What ended round ${run.round} stands here once the next one has begun.`
		: "Nothing has ended a round.";
}

function Reason({ incident }: { readonly incident: TimelineIncident }) {
	const { reason, pid, hint, message, kind, nodes } = incident;
	const sign = kind === "scale-up" ? "+" : "−";
	const moves = kind === "failure" ? "" : changes(sign, nodes, reason);
	return (
		<>
			{withPid(reason, pid)}
			<small>{moves}</small>
			{message !== null && <small class="hint">{plain(message)}</small>}
			{hint !== null && <small class="hint">{plain(hint)}</small>}
		</>
	);
}
