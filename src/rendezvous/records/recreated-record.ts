import { fields } from "../../base/shape.js";
import { token, version } from "./record-parts.js";

/**
 * `recreated/<nodeId>`: this member ended to be started again, and its successor takes its place. `left/<nodeId>`: it left in
 * order, and nobody waits for it.
 */
export interface RecreatedRecord {
	readonly version: 1;
	/** Of the process that has ended. */
	readonly incarnation: string;
}

export const RECREATED = fields<RecreatedRecord>({
	version,
	incarnation: token,
});
