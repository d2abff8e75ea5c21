/** The values that a `--log-prefix` template may name. */
export interface PrefixValues {
	readonly node: string;
	readonly rank: number;
	readonly localRank: number;
	readonly role: string;
	readonly round: number;
}

/** Cyan, green, yellow, magenta, blue, and their bright forms; red is for errors. */
const RANK_COLOURS = [36, 32, 33, 35, 34, 96, 92, 93, 95, 94] as const;

/** The bytes before each line of a worker, coloured by rank if asked. Unknown placeholders stay unchanged. */
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
		// torchrun's name for it.
		role_name: values.role,
		round: values.round,
	};
	const text = template.replace(/\$\{(\w+)\}/g, (whole, name: string) =>
		Object.hasOwn(known, name) ? String(known[name]) : whole,
	);
	return Buffer.from(colour ? paintForRank(text, values.rank) : text);
}

export function paintForRank(text: string, rank: number): string {
	const code = RANK_COLOURS[rank % RANK_COLOURS.length];
	return `\x1b[${code}m${text}\x1b[39m`;
}
