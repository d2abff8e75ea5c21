import { toCareFor } from "../planner/replace-nodes.js";
import type { RunKeys } from "../records/keys.js";
import { encodeRecord } from "../records/record-codec.js";
import type { ReplacedRecord } from "../records/replaced-record.js";
import type { RunView } from "../records/run-view.js";
import type { PlanWriter } from "./plan-writer.js";

export interface CareOptions {
	readonly keys: RunKeys;
	readonly nodeId: string;
	/** Called once for each node that is to be replaced: this coordinator alone cares for it. */
	readonly onReplace?: ((record: ReplacedRecord) => void) | undefined;
}

/**
 * Cares for a node that is to be replaced. First it says so in the store, so that no successor does it again. Resolves with
 * whether that was written; undefined if there is no such node.
 */
export async function careFor(
	view: RunView,
	{ keys, nodeId, onReplace }: CareOptions,
	writer: Pick<PlanWriter, "write">,
): Promise<boolean | undefined> {
	const record = onReplace && toCareFor(view, { nodeId });
	if (record === undefined) return undefined;
	const put = keys.replacedNode(record.nodeId);
	const writes = [{ put, value: encodeRecord(record) }];
	const { succeeded } = await writer.write(writes, view);
	if (succeeded) onReplace?.(record);
	return succeeded;
}
