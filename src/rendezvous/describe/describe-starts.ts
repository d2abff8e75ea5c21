import type { RunKeys } from "../records/keys.js";
import { LEDGER, type LedgerRecord } from "../records/ledger-record.js";
import { informationAt, type Warn } from "../records/record-codec.js";
import type { Snapshot } from "../store/store.js";
import type { NodeStatus } from "./run-status.js";

/** Reads how nodes started their workers, from the records that `history` reads too. */
export class StartsReader {
	/** Of each node the key of its newest record: the ledger of a long run has thousands, and most are not decoded. */
	private readonly newest = new Map<string, string>();

	constructor(
		{ ledger }: RunKeys,
		private readonly snapshot: Snapshot,
		private readonly warn: Warn,
	) {
		for (const key of snapshot.entries.keys()) {
			if (!key.startsWith(ledger)) continue;
			const nodeId = key.slice(key.lastIndexOf("/") + 1);
			const known = this.newest.get(nodeId) ?? "";
			if (key > known) this.newest.set(nodeId, key);
		}
	}

	/** Empty without `--warm auto`. */
	of(
		{ nodeId, pid }: Pick<NodeStatus, "nodeId" | "pid">,
		round: { readonly instance: number; readonly synced: number },
	): Pick<NodeStatus, "starts" | "nextStart"> {
		const key = this.newest.get(nodeId);
		const record = key && informationAt(LEDGER, this.snapshot, key, this.warn);
		if (!record || record.instance !== round.instance) return {};
		const { starts, nextStart } = startsOf(record, round.synced);
		return {
			...(starts && { starts }),
			...(nextStart && pid !== null ? { nextStart } : {}),
		};
	}
}

/** What has left the run starts nothing more. */
function startsOf(
	{ round, starts, nextStart, leftAt }: LedgerRecord,
	synced: number,
): Pick<LedgerRecord, "starts" | "nextStart"> {
	return {
		starts: round === synced ? starts : undefined,
		nextStart: leftAt === undefined ? nextStart : undefined,
	};
}
