/** `seats/<nodeId>` of a node that may not take part any more. */
export interface RefusedSeat {
	readonly version: 1;
	readonly incarnation: string;
	readonly refused: string;
}
