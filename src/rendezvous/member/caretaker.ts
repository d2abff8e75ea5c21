import { toCareFor } from "../planner/replace-nodes.js";
import type { RunKeys } from "../records/keys.js";
import { encodeRecord } from "../records/record-codec.js";
import type { ReplacedRecord } from "../records/replaced-record.js";
import type { RunView } from "../records/run-view.js";
import type { TransactionResult } from "../store/store.js";
import type { PlanWriter } from "./plan-writer.js";

export interface CareOptions {
	readonly keys: RunKeys;
	readonly nodeId: string;
	/** Called once for each node that is to be replaced: this coordinator alone cares for it. */
	readonly onReplace?: ((record: ReplacedRecord) => void) | undefined;
}

/** Cares for nodes that are to be replaced. First it says so in the store, so that no successor does it again. */
export class Caretaker {
	/** The incarnation for which it has said so, if it does not know whether that was written. */
	private unanswered: string | undefined;

	constructor(
		private readonly options: CareOptions,
		private readonly writer: Pick<PlanWriter, "write">,
	) {}

	/** Resolves with what came of the write; undefined if none is needed. */
	async care(view: RunView): Promise<TransactionResult | undefined> {
		const { keys, nodeId, onReplace } = this.options;
		if (onReplace === undefined) return undefined;
		this.takeUp(view, onReplace);
		const record = toCareFor(view, { nodeId });
		if (record === undefined) return undefined;
		const put = keys.replacedNode(record.nodeId);
		this.unanswered = record.incarnation;
		const writes = [{ put, value: encodeRecord(record) }];
		const written = await this.writer.write(writes, view);
		this.unanswered = undefined;
		if (written.succeeded) onReplace(record);
		return written;
	}

	/** Cares for the node for which it said so without hearing the store's answer, if that was written. */
	private takeUp(
		{ replaced = new Map() }: RunView,
		onReplace: (record: ReplacedRecord) => void,
	): void {
		const { nodeId } = this.options;
		const record = [...replaced.values()].find(
			({ caredForBy, incarnation, replacement }) =>
				caredForBy === nodeId &&
				incarnation === this.unanswered &&
				replacement === undefined,
		);
		if (record === undefined) return;
		this.unanswered = undefined;
		onReplace(record);
	}
}
