/** What a `--log-prefix` template may name. */
export interface PrefixValues {
	readonly node: string;
	readonly rank: number;
	readonly localRank: number;
	readonly role: string;
	readonly round: number;
}

/** Cyan, green, yellow, magenta, blue, and their bright forms; red is left to errors. */
const RANK_COLOURS = [36, 32, 33, 35, 34, 96, 92, 93, 95, 94] as const;

/** The bytes before each of a worker's lines, coloured by rank where asked. Names that are not known stay as they are. */
export function renderPrefix(
	template: string,
	values: PrefixValues,
	colour: boolean,
): Uint8Array {
	const known: Readonly<Record<string, string | number>> = {
		node: values.node,
		rank: values.rank,
		local_rank: values.localRank,
		role: values.role,
		round: values.round,
	};
	const text = template.replace(/\$\{(\w+)\}/g, (whole, name: string) =>
		Object.hasOwn(known, name) ? String(known[name]) : whole,
	);
	const code = RANK_COLOURS[values.rank % RANK_COLOURS.length];
	return Buffer.from(colour ? `\x1b[${code}m${text}\x1b[39m` : text);
}
