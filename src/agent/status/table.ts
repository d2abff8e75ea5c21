/** Rows with their columns below each other, two blanks apart; the last column is as long as it is. */
export function alignColumns(
	rows: readonly (readonly string[])[],
): readonly string[] {
	const [first = []] = rows;
	const widths = first.map((_, column) =>
		Math.max(...rows.map((row) => row[column]?.length ?? 0)),
	);
	return rows.map((row) =>
		row
			.map((cell, column) => cell.padEnd(widths[column] ?? 0))
			.join("  ")
			.trimEnd(),
	);
}
