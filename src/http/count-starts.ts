import type { StartKind } from "../model/start.js";
import type { RoundLine } from "../rendezvous/describe/describe-history.js";

/** How many starts of each round were counted, by round. */
export type CountedStarts = ReadonlyMap<
	number,
	{ readonly warm: number; readonly cold: number }
>;

export interface StartNews {
	readonly start: StartKind;
	/** The class of the reason; absent for a warm start. */
	readonly reason?: string;
	readonly count: number;
}

/** What a node has started since it was counted last. A round's record may come late, and grow while the round begins. */
export function countStarts(
	rounds: readonly Pick<RoundLine, "round" | "starts">[],
	nodeId: string,
	counted: CountedStarts,
): { readonly news: readonly StartNews[]; readonly counted: CountedStarts } {
	const own = rounds.flatMap(({ round, starts }) => {
		const start = starts.find((one) => one.nodeId === nodeId);
		return start === undefined ? [] : [{ ...start, round }];
	});
	const news = own.flatMap(({ round, warm, cold, kind }): StartNews[] => {
		const before = counted.get(round) ?? { warm: 0, cold: 0 };
		return [
			{ start: "warm", count: warm - before.warm },
			{ start: "cold", reason: kind ?? "other", count: cold - before.cold },
		];
	});
	return {
		news: news.filter(({ count }) => count > 0),
		counted: new Map(
			own.map(({ round, warm, cold }) => [round, { warm, cold }]),
		),
	};
}
