/** `coordinator`: the agent that plans at this moment. The key's create revision is the fencing token. */
export interface CoordinatorRecord {
	readonly version: 1;
	readonly nodeId: string;
	readonly incarnation: string;
}
