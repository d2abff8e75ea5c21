import type { NextStart, Starts } from "../model/start.js";
import type { WorkerSpec } from "../processes/index.js";
import type { ColdReason } from "./warm-or-cold.js";

/** Knows how a node's workers were started, and how the next ones will be. */
export interface StartSource {
	/** Undefined if none was started in this round. */
	startsIn(round: number): Starts | undefined;
	readonly next: NextStart;
	/** Called when either has changed. */
	onChange: () => void;
}

/** How a node's workers were started. */
export class StartNotes {
	/** By round. */
	private readonly rounds = new Map<string, Starts>();
	onChange: () => void = () => {};

	/** @param cold why this one starts cold; undefined: it starts warm */
	note({ env }: Pick<WorkerSpec, "env">, cold: ColdReason | undefined): void {
		const round = env.ELASTIC_RUN_ROUND ?? "";
		const before = this.rounds.get(round) ?? { warm: 0, cold: 0 };
		this.rounds.set(
			round,
			cold === undefined
				? { ...before, warm: before.warm + 1 }
				: {
						...{ ...before, cold: before.cold + 1 },
						...{ reason: cold.reason, kind: cold.kind },
					},
		);
		this.onChange();
	}

	in(round: number): Starts | undefined {
		return this.rounds.get(String(round));
	}
}
