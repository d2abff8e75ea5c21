import type { Work } from "./work.js";

/** Something that workers have shown, and when. Milliseconds on the agent's steady clock. */
export interface WorkNews {
	readonly at: number;
	readonly apply: (work: Work) => Work;
}

/** Adds news in the order of their times: those of two workers are not heard in their order. */
export function insertNews(
	waiting: readonly WorkNews[],
	news: WorkNews,
): readonly WorkNews[] {
	const index = waiting.findLastIndex(({ at }) => at <= news.at) + 1;
	return [...waiting.slice(0, index), news, ...waiting.slice(index)];
}

export function applyNews(work: Work, news: readonly WorkNews[]): Work {
	return news.reduce((before, { apply }) => apply(before), work);
}
