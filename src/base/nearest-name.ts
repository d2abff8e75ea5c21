/** The most letters by which a word may differ and still count as a typing error. */
const LARGEST_SLIP = 3;

/** The known name that `word` most likely means, or undefined if none is near. */
export function nearestName(
	word: string,
	known: Iterable<string>,
): string | undefined {
	const typed = fold(word);
	let nearest: string | undefined;
	let smallest = Math.min(LARGEST_SLIP, Math.ceil(typed.length / 3)) + 1;
	for (const name of known) {
		const distance = slipBetween(typed, fold(name));
		if (distance >= smallest) continue;
		nearest = name;
		smallest = distance;
	}
	return nearest;
}

/** `; did you mean X?`, or "" if no known name is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
	const nearest = nearestName(word, known);
	return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

function fold(name: string): string {
	return name.toLowerCase().replaceAll(/[-_]/g, "");
}

/** A shortened name counts as one error, so that "nproc" leads to "nproc-per-node". */
function slipBetween(typed: string, name: string): number {
	if (typed.length >= 4 && name.startsWith(typed)) return 1;
	return editDistance(typed, name);
}

/** How many letters to insert, delete, exchange or swap with a neighbour to get from `from` to `to`. */
export function editDistance(from: string, to: string): number {
	const rows: number[][] = [];
	const at = (row: number, column: number) =>
		rows[row]?.[column] ?? Math.max(row, column);
	for (let row = 1; row <= from.length; row++) {
		rows[row] = [row];
		for (let column = 1; column <= to.length; column++) {
			const isSame = from[row - 1] === to[column - 1];
			const isSwap =
				from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
			rows[row]?.push(
				Math.min(
					at(row, column - 1) + 1,
					at(row - 1, column) + 1,
					at(row - 1, column - 1) + (isSame ? 0 : 1),
					isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
				),
			);
		}
	}
	return at(from.length, to.length);
}
