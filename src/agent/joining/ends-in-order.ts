import { isUnreachable } from "../../base/back-off.js";
import type { ElasticRunError } from "../../base/errors.js";
import { GarbledRecordError } from "../../rendezvous/records/record-codec.js";

/**
 * Whether workers get their usual grace after this error: only the store or its content is at fault, and no other process
 * can take this node's place meanwhile.
 */
export function endsInOrder(error: unknown): error is ElasticRunError {
	return isUnreachable(error) || error instanceof GarbledRecordError;
}
