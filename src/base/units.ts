/** A duration for people: `340 ms`, `41.2 s`, `12 min 5 s`, `3 h 20 min`. */
export function formatDuration(ms: number): string {
	if (ms < 1_000) return `${Math.round(ms)} ms`;
	if (ms < 99_950) return `${(ms / 1_000).toFixed(1)} s`;
	const seconds = Math.round(ms / 1_000);
	const minutes = Math.floor(seconds / 60);
	if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
	return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A rate for people, of so many a second: `12.3/s`, `0.25/s`, `4.0/min`. */
export function formatRate(perSecond: number): string {
	if (perSecond >= 100) return `${Math.round(perSecond)}/s`;
	if (perSecond >= 0.1 || perSecond === 0) {
		return `${Number(perSecond.toPrecision(3))}/s`;
	}
	return `${Number((perSecond * 60).toPrecision(2))}/min`;
}

/** A time for people on any machine: `2026-11-26 12:00:00 UTC`. `ms`: milliseconds since 1970. */
export function formatInstant(ms: number): string {
	return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** `1 restart`, `2 restarts`. */
export function formatCount(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Ranks in order, with neighbours joined: `0, 2-5, 7`. */
export function formatRanks(ranks: readonly number[]): string {
	const ranges: { first: number; last: number }[] = [];
	for (const rank of [...ranks].sort((a, b) => a - b)) {
		const open = ranges.at(-1);
		if (open && rank === open.last + 1) open.last = rank;
		else ranges.push({ first: rank, last: rank });
	}
	return ranges
		.map(({ first, last }) =>
			first === last ? `${first}` : `${first}-${last}`,
		)
		.join(", ");
}
