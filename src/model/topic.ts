/** What each node of a run publishes about one subject, under its lease. It only informs: what the store does not take is lost. */
export interface Topic<Record> {
	/** Replaces this node's record. Never rejects. */
	publish(record: Record): Promise<void>;
	/** The present records by node id; undefined if the store does not answer. Unreadable ones are left out. Never rejects. */
	read(): Promise<ReadonlyMap<string, Record> | undefined>;
}

interface Place {
	readonly instance: number | null;
	readonly round: number;
}

/** Those about one round, with the nodes that published them. */
export function ofRound<Record extends Place>(
	records: ReadonlyMap<string, Record>,
	{ instance, round }: Place,
): readonly (readonly [nodeId: string, record: Record])[] {
	return [...records].filter(
		([, one]) => one.round === round && one.instance === instance,
	);
}
