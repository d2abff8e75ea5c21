import { formatCount } from "../../../base/units.js";
import type {
	InstanceHistory,
	RoundLine,
	RunHistory,
} from "../../../rendezvous/describe/describe-history.js";
import { savedByAll } from "../../../rendezvous/describe/measure-starts.js";
import { wordsOfStarts } from "../../../rendezvous/describe/words-of-starts.js";
import { plain } from "./plain.js";
import { type Column, section, table } from "./table.js";
import { type Child, h, type Tree } from "./tree.js";
import { changes, clockTime, duration } from "./words.js";

interface Line extends RoundLine {
	readonly isEarlier: boolean;
}

/** All known rounds, newest first: why each began, and how fast. */
export function roundTable(history: RunHistory, now: number): Tree {
	const newest = history.instances.at(-1);
	const lines = history.instances
		.flatMap((instance) =>
			instance.rounds.map((line) => ({
				...line,
				isEarlier: instance !== newest,
			})),
		)
		.toReversed();
	return section(
		"rounds",
		"Rounds",
		h("span", { class: "note" }, noteOf(newest, lines)),
		lines.length === 0
			? h("p", { class: "empty" }, "None has begun yet.")
			: table("Rounds", columnsAt(now), lines, ({ instance, round }) =>
					[instance, round].join("/"),
				),
	);
}

function noteOf(
	newest: InstanceHistory | undefined,
	lines: readonly Line[],
): string {
	const earlier = lines.filter(({ isEarlier }) => isEarlier).length;
	const count = formatCount(newest?.rounds.length ?? 0, "round");
	const rounds =
		earlier === 0
			? count
			: `${count}, and ${earlier} of earlier starts of this run`;
	const saved = savedByAll(newest?.rounds ?? []) ?? 0;
	return saved > 0 ? `${rounds}; warm starts saved ${duration(saved)}` : rounds;
}

function columnsAt(now: number): readonly Column<Line>[] {
	const time = (
		name: string,
		ms: (line: Line) => number | null,
		kind = "number wide",
	): Column<Line> => ({ name, cell: (line) => duration(ms(line)), kind });
	return [
		{ name: "round", cell: ({ round }) => String(round), kind: "number" },
		{
			name: "workers",
			cell: ({ worldSize }) => String(worldSize),
			kind: "number wide",
		},
		{
			name: "nodes",
			cell: ({ members }) => String(members.length),
			kind: "number wide",
		},
		{
			name: "lifted",
			cell: ({ liftedAt }) => clockTime(liftedAt, now),
			kind: "number",
		},
		time("noticed", ({ phases }) => phases.noticeMs),
		time("stopped", ({ phases }) => phases.stopMs),
		time("ready", ({ phases }) => phases.readyMs),
		time("barrier", ({ phases }) => phases.barrierMs),
		time("started", ({ phases }) => phases.startMs),
		time("in all", ({ phases }) => phases.totalMs, "number"),
		time("ran", ({ ranMs }) => ranMs),
		{ name: "begun because of", cell: causeOf, kind: "text" },
	];
}

function causeOf(line: Line): readonly Child[] {
	const { cause, joined, left, isEarlier, starts } = line;
	const pid = cause.root?.pid;
	const { kind, reason } = cause;
	const came = kind === "start" ? "" : changes("+", joined, reason);
	const went = kind === "start" ? "" : changes("−", left, reason);
	const started = wordsOfStarts(starts);
	return [
		isEarlier ? h("span", { class: "tag" }, "earlier start") : null,
		`${plain(reason)}${pid == null ? "" : ` (pid ${pid})`}`,
		h("span", { class: "changes" }, `${came}${went}`),
		started === undefined
			? null
			: h("span", { class: "changes" }, `; started ${plain(started)}`),
	];
}
