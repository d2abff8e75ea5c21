import { formatCount, formatDuration } from "../base/units.js";
import { plainMessage } from "../logs/plain-text.js";
import type { RoundStory } from "./run-report.js";

/** The closing report shows this many rounds, the newest. */
const MOST_ROUNDS = 20;
const HEADER = ["round", "workers", "recovery", "ran", "ended by"] as const;

/** The run's rounds as an aligned table, one line per round; empty if there were none. */
export function formatRounds(rounds: readonly RoundStory[]): string[] {
	if (rounds.length === 0) return [];
	const earlier = rounds.length - MOST_ROUNDS;
	const rows = rounds.slice(-MOST_ROUNDS).map(cellsOf);
	const table = align([HEADER, ...rows]);
	if (earlier <= 0) return table;
	const note = `  … ${formatCount(earlier, "earlier round")}`;
	return [...table.slice(0, 1), note, ...table.slice(1)];
}

function cellsOf(story: RoundStory): string[] {
	const { round, worldSize, recoveryMs, ranMs, ending } = story;
	return [
		String(round),
		String(worldSize),
		recoveryMs === null ? "-" : formatDuration(recoveryMs),
		ranMs === null ? "-" : formatDuration(ranMs),
		plainMessage(ending),
	];
}

/** Aligns numbers to the right. The last column is not padded. */
function align(rows: readonly (readonly string[])[]): string[] {
	const widths = HEADER.map((_, column) =>
		Math.max(...rows.map((row) => row[column]?.length ?? 0)),
	);
	return rows.map((row) => {
		const last = row.length - 1;
		const cells = row.map((cell, column) =>
			column === last ? cell : cell.padStart(widths[column] ?? 0),
		);
		return `  ${cells.join("  ")}`;
	});
}
