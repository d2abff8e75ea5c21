import { formatCount } from "../../base/units.js";
import {
	type InstanceHistory,
	type RoundLine,
	savedByAll,
	wordsOfStarts,
} from "../../status/index.js";
import type { SectionProps } from "./model.js";
import { type Column, Section, Table } from "./parts.js";
import { changes, clockTime, duration, plain, withPid } from "./words.js";

interface Line extends RoundLine {
	readonly isEarlier: boolean;
}

/** All known rounds, newest first: why each began, and how fast. */
export function Rounds({ document, model }: SectionProps) {
	if (document.history === null) return null;
	const { instances } = document.history;
	const newest = instances.at(-1);
	const lines = instances.flatMap((instance) =>
		instance.rounds.map((line) => ({
			...line,
			isEarlier: instance !== newest,
		})),
	);
	return (
		<Section id="rounds" title="Rounds" note={noteOf(newest, lines)}>
			<Table
				columns={columnsAt(model.now)}
				rows={lines.toReversed()}
				keyOf={({ instance, round }) => `${instance}/${round}`}
				empty="None has begun yet."
			/>
		</Section>
	);
}

function noteOf(
	newest: InstanceHistory | undefined,
	lines: readonly Line[],
): string {
	const earlier = lines.filter(({ isEarlier }) => isEarlier).length;
	const rounds = [formatCount(newest?.rounds.length ?? 0, "round")];
	if (earlier > 0) rounds.push(`and ${earlier} of earlier starts of this run`);
	const saved = savedByAll(newest?.rounds ?? []) ?? 0;
	const words = saved > 0 ? `; warm starts saved ${duration(saved)}` : "";
	return `${rounds.join(", ")}${words}`;
}

function columnsAt(now: number): readonly Column<Line>[] {
	const wide = "number wide";
	return [
		["round", "number", ({ round }) => round],
		["workers", wide, ({ worldSize }) => worldSize],
		["nodes", wide, ({ members }) => members.length],
		["lifted", "number", ({ liftedAt }) => clockTime(liftedAt, now)],
		["noticed", wide, ({ phases }) => duration(phases.noticeMs)],
		["stopped", wide, ({ phases }) => duration(phases.stopMs)],
		["ready", wide, ({ phases }) => duration(phases.readyMs)],
		["barrier", wide, ({ phases }) => duration(phases.barrierMs)],
		["started", wide, ({ phases }) => duration(phases.startMs)],
		["in all", "number", ({ phases }) => duration(phases.totalMs)],
		["ran", wide, ({ ranMs }) => duration(ranMs)],
		["begun because of", "text", (line) => <Cause line={line} />],
	];
}

function Cause({ line }: { readonly line: Line }) {
	const { cause, joined, left, isEarlier } = line;
	const { kind, reason, root } = cause;
	const starts = wordsOfStarts(line.starts);
	const moves = `${changes("+", joined, reason)}${changes("−", left, reason)}`;
	return (
		<>
			{isEarlier && <span class="tag">earlier start</span>}
			{withPid(reason, root?.pid)}
			<small>
				{kind === "start" ? "" : moves}
				{starts === undefined ? "" : `; started ${plain(starts)}`}
			</small>
		</>
	);
}
