import type { RunKeys } from "../records/keys.js";
import { LEDGER, type LedgerRecord } from "../records/ledger-record.js";
import { informationAt, type Warn } from "../records/record-codec.js";
import type { Snapshot } from "../store/store.js";
import { startsOfRound } from "./measure-starts.js";
import type { NodeStatus, ShownStarts } from "./run-status.js";

/** Rounds before the newest that are looked at for a cold start. */
const MOST_EARLIER = 50;

/** Reads how nodes started their workers, from the records that `history` reads too. */
export class StartsReader {
	/** Of each node the keys of its records, the newest first: a long run has thousands, and most are not decoded. */
	private readonly keysOf = new Map<string, string[]>();

	constructor(
		{ ledger }: RunKeys,
		private readonly snapshot: Snapshot,
		private readonly warn: Warn,
	) {
		for (const key of snapshot.entries.keys()) {
			if (!key.startsWith(ledger)) continue;
			const nodeId = key.slice(key.lastIndexOf("/") + 1);
			const known = this.keysOf.get(nodeId);
			if (known === undefined) this.keysOf.set(nodeId, [key]);
			else known.push(key);
		}
		for (const keys of this.keysOf.values()) keys.sort().reverse();
	}

	/** Empty without `--warm auto`. */
	of(
		{ nodeId, pid }: Pick<NodeStatus, "nodeId" | "pid">,
		round: { readonly instance: number; readonly synced: number },
	): Pick<NodeStatus, "starts" | "nextStart"> {
		const [key, ...earlier] = this.keysOf.get(nodeId) ?? [];
		const record = key === undefined ? undefined : this.read(key);
		if (record?.instance !== round.instance) return {};
		const { starts, nextStart } = startsOf(record, round.synced);
		return {
			...(starts && { starts: { ...starts, ...this.saved(record, earlier) } }),
			...(nextStart && pid !== null ? { nextStart } : {}),
		};
	}

	/** As `history` computes it, but it does not look back so far. */
	private saved(
		record: LedgerRecord,
		earlier: readonly string[],
	): Pick<ShownStarts, "savedMs"> {
		const { instance, round, steps, starts } = record;
		if (steps === null || starts?.cold !== 0) return {};
		for (const key of earlier.slice(0, MOST_EARLIER)) {
			const before = this.read(key);
			if (before?.instance !== instance) continue;
			const [start] = startsOfRound([before, record], round);
			const savedMs = start?.savedMs ?? null;
			if (savedMs !== null) return { savedMs };
		}
		return {};
	}

	private read(key: string): LedgerRecord | undefined {
		return informationAt(LEDGER, this.snapshot, key, this.warn);
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
