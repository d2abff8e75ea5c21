import type { StageTime } from "../model/step.js";

/** What a worker may say that it does. */
export type Announced = "saving" | "loading";

/** No time of any kind. */
export const NO_TIME: StageTime = { ms: 0, savingMs: 0, loadingMs: 0 };

/** Adds time, announced or not; while one worker saves and another loads, the node saves. */
export function withAnnounced(
	time: StageTime,
	announced: readonly { readonly kind: Announced }[],
	ms: number,
): StageTime {
	const kinds = new Set(announced.map(({ kind }) => kind));
	if (kinds.has("saving")) return { ...time, savingMs: time.savingMs + ms };
	if (kinds.has("loading")) return { ...time, loadingMs: time.loadingMs + ms };
	return time;
}

/** Adds two times, each kind for itself. */
export function sum(one: StageTime, other: StageTime): StageTime {
	return {
		ms: one.ms + other.ms,
		savingMs: one.savingMs + other.savingMs,
		loadingMs: one.loadingMs + other.loadingMs,
	};
}

/** Gives this part of what was not announced to steps that are made again. */
export function split(
	time: StageTime,
	part: number,
): { readonly again: StageTime; readonly rest: StageTime } {
	const ms = part * (time.ms - time.savingMs - time.loadingMs);
	return { again: { ...NO_TIME, ms }, rest: { ...time, ms: time.ms - ms } };
}
