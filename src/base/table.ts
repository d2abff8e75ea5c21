/** Aligns columns, two blanks apart. The last column is not padded. */
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
