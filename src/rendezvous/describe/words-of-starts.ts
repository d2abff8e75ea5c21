import { formatDuration } from "../../base/units.js";
import { type NodeStart, savedBy } from "./measure-starts.js";

/** How the nodes of a round started their workers, in words; undefined without `--warm auto`. */
export function wordsOfStarts(
	starts: readonly NodeStart[],
): string | undefined {
	if (starts.length === 0) return undefined;
	const warm = starts.reduce((sum, one) => sum + one.warm, 0);
	const all = starts.reduce((sum, one) => sum + one.cold, warm);
	const reason = starts.find((one) => one.reason !== null)?.reason ?? "";
	if (warm === 0) return `cold: ${reason}`;
	if (warm < all) return `${warm} of ${all} warm: ${reason}`;
	return withSaved("warm", savedBy(starts));
}

/** @param savedMs what that has saved; null or undefined if it is not known */
export function withSaved(words: string, savedMs: number | null | undefined) {
	const saved = savedMs ?? 0;
	return saved > 0 ? `${words}, saved ${formatDuration(saved)}` : words;
}
