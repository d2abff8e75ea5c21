import type { AgentIdentity } from "../records/intent.js";
import type { RunKeys } from "../records/keys.js";
import { garbled, recordAt } from "../records/record-codec.js";
import { SEAT, type Seat } from "../records/records.js";
import type { Snapshot } from "../store/store.js";

/**
 * This process's seat; null if it has none.
 * @throws ElasticRunError RENDEZVOUS_FAILED if it is unreadable, or has another size than this node
 */
export function ownSeat(
	snapshot: Pick<Snapshot, "entries">,
	keys: RunKeys,
	{ nodeId, incarnation, localWorldSize }: AgentIdentity,
): Seat | null {
	const key = keys.seat(nodeId);
	const seat = recordAt(SEAT, snapshot, key);
	if (seat?.incarnation !== incarnation) return null;
	if (!("planId" in seat) || seat.localWorldSize === localWorldSize)
		return seat;
	throw garbled(
		{ key },
		`its localWorldSize is ${seat.localWorldSize}, but must be this node's ${localWorldSize}`,
	);
}
