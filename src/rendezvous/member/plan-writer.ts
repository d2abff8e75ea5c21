import type {
	Compare,
	Entry,
	Store,
	TransactionResult,
	Write,
} from "../../store/index.js";
import type { Plan } from "../planner/plan.js";
import { planWrites } from "../planner/plan-writes.js";
import type { RunKeys } from "../records/keys.js";
import type { RunView } from "../records/run-view.js";

/** Writes per transaction besides its guards; etcd's limit is 128 operations. */
const BATCH_SIZE = 100;

/** Distinguishes one term of one agent from all others: the revision within one store, the value between two. */
export type FencingToken = Pick<Entry, "createRevision" | "value">;

export interface PlanWriterOptions {
	readonly store: Store;
	readonly keys: RunKeys;
	/** This agent's `coordinator` key, which guards every write. */
	readonly fencingToken: FencingToken;
	readonly coordinating: {
		/** Writes per transaction besides its guards; default: 100. */
		readonly batchSize?: number | undefined;
	};
}

interface PlanSettings extends Pick<WriteSettings, "reads"> {
	readonly tryId: string;
	readonly also: readonly Write[];
}

interface WriteSettings {
	/** In addition to the guards of every write. */
	readonly guard?: Compare | undefined;
	readonly reads?: readonly string[] | undefined;
}

/** Writes for a coordinator. Writes fail once it is deposed, or once the round is not the one that it has seen. */
export class PlanWriter {
	constructor(private readonly options: PlanWriterOptions) {}

	/**
	 * Resolves with whether the plan holds, and the records read back then.
	 * @param settings.tryId distinguishes this try from all others
	 * @param settings.also written together with the final write of the plan
	 * @param settings.reads what is read back
	 */
	async carryOut(
		plan: Plan,
		view: RunView,
		{ tryId, also, reads }: PlanSettings,
	): Promise<TransactionResult> {
		const { keys, coordinating } = this.options;
		const { batchSize = BATCH_SIZE } = coordinating;
		const { others, last: own } = planWrites(plan, keys, view);
		const last = [...own, ...also];
		const isSmall = others.length + last.length <= batchSize;
		if (isSmall || others.length === 0) {
			return this.write([...others, ...last], view, { reads });
		}
		const guard = await this.writeInBatches(others, view, tryId);
		if (guard === undefined) return { succeeded: false, revision: 0 };
		const unmark = { delete: keys.lifting };
		return this.write([...last, unmark], view, { guard, reads });
	}

	async write(
		writes: readonly Write[],
		view: RunView,
		{ guard, reads }: WriteSettings = {},
	): Promise<TransactionResult> {
		const { store, keys, fencingToken } = this.options;
		const { createRevision, value } = fencingToken;
		const guards: Compare[] = [
			{ key: keys.coordinator, createRevision, value },
			{ key: keys.round, modRevision: view.roundRevision },
			...(guard ? [guard] : []),
		];
		return store.transaction(guards, writes, { made: reads });
	}

	/**
	 * Writes what one transaction cannot hold. Delayed writes of an earlier try must not mix with it: the first batch of
	 * each try changes one key, which all later batches compare. Resolves with that guard.
	 */
	private async writeInBatches(
		writes: readonly Write[],
		view: RunView,
		tryId: string,
	): Promise<Compare | undefined> {
		const { keys, coordinating } = this.options;
		const { batchSize = BATCH_SIZE } = coordinating;
		let guard: Compare | undefined;
		for (let from = 0; from < writes.length; from += batchSize) {
			const batch = writes.slice(from, from + batchSize);
			const mark = { put: keys.lifting, value: tryId };
			const { succeeded, revision } = guard
				? await this.write(batch, view, { guard })
				: await this.write([mark, ...batch], view);
			if (!succeeded) return undefined;
			guard ??= { key: keys.lifting, modRevision: revision };
		}
		return guard;
	}
}
