const ESCAPE = "\u001b";

/** The rows of a terminal after all of this, as far as it understands what is drawn over; their ends only. */
export function screenAfter(text: string): readonly string[] {
	const rows: string[] = [];
	let row = 0;
	// Each control sequence of what is drawn ends with a letter.
	for (const part of text.replaceAll(/\r?\n/g, `${ESCAPE}[1N`).split(ESCAPE)) {
		const [, count = "", letter = "", rest = ""] =
			/^\[\??(\d*)([a-zA-Z])(.*)$/s.exec(part) ?? [];
		if (letter === "A") row -= Number(count);
		if (letter === "N") row += 1;
		if (letter === "J") rows.length = row;
		const written = (letter === "" ? part : rest).replaceAll("\r", "");
		if (written !== "") rows[row] = written;
	}
	return rows;
}
