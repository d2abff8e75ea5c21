import type { RunKeys } from "./keys.js";
import type { Plan } from "./plan.js";
import { planWrites } from "./plan-writes.js";
import type { RunView } from "./run-view.js";
import type {
	Compare,
	Entry,
	Reader,
	Store,
	TransactionResult,
	Write,
} from "./store.js";

/** Writes a transaction may hold beside its guards; etcd's limit is 128 operations. */
const BATCH_SIZE = 100;

/** Tells one term of one agent from all others: the revision in one store, the value between two. */
export type FencingToken = Pick<Entry, "createRevision" | "value">;

export interface PlanWriterOptions {
	readonly store: Store;
	readonly keys: RunKeys;
	/** This agent's `coordinator` key: what every write is guarded by. */
	readonly fencingToken: FencingToken;
	/** Writes that one transaction may hold beside its guards; 100 unless given. */
	readonly batchSize?: number | undefined;
	/** The agent itself, which reads back each plan that is written, if it does. */
	readonly own?: Reader | undefined;
}

interface WriteSettings {
	/** Beside those of every write. */
	readonly guard?: Compare | undefined;
	readonly reads?: readonly string[] | undefined;
}

/** Writes for a coordinator: nothing once it is deposed, nor once the round is another than it has seen. */
export class PlanWriter {
	constructor(private readonly options: PlanWriterOptions) {}

	/**
	 * Resolves with whether the plan holds, and with what was read back then.
	 * @param settings.tryId distinguishes this try at the plan from all others
	 * @param settings.also what is written together with what makes the plan hold
	 */
	async carryOut(
		plan: Plan,
		view: RunView,
		{ tryId, also }: { tryId: string; also: readonly Write[] },
	): Promise<Pick<TransactionResult, "succeeded" | "read">> {
		const { keys, own: reader, batchSize = BATCH_SIZE } = this.options;
		const reads = reader?.selectors;
		const { others, last: own } = planWrites(plan, keys, view);
		const last = [...own, ...also];
		const isSmall = others.length + last.length <= batchSize;
		if (isSmall || others.length === 0) {
			return this.write([...others, ...last], view, { reads });
		}
		const guard = await this.writeInBatches(others, view, tryId);
		if (guard === undefined) return { succeeded: false };
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
	 * Writes what one transaction cannot hold. What an earlier try has still under
	 * way to the store must not get among it: the first batch of each try changes
	 * one key, which all that follows compares. Resolves with that guard.
	 */
	private async writeInBatches(
		writes: readonly Write[],
		view: RunView,
		tryId: string,
	): Promise<Compare | undefined> {
		const { keys, batchSize = BATCH_SIZE } = this.options;
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
