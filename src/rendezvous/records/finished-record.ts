/** `finished/<nodeId>`: this member has finished its part of the plan. */
export interface FinishedRecord {
	readonly version: 1;
	readonly planId: string;
}
