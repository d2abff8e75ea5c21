import type { Lease, Write } from "../store/store.js";
import type { AgentIdentity, Intent } from "./intent.js";
import type { RunKeys } from "./keys.js";
import { encodeRecord } from "./record-codec.js";
import { RECORD_VERSION } from "./records.js";

interface Place {
	readonly keys: RunKeys;
	readonly identity: AgentIdentity;
	readonly lease: Lease;
}

/**
 * The writes of an agent's intent: its record under its lease, and what must outlive the agent.
 * @param record the agent's record as text
 */
export function intentWrites(
	intent: Intent,
	record: string,
	place: Place,
): readonly Write[] {
	const { keys, identity, lease } = place;
	const put = keys.node(identity.nodeId);
	const left = [...finishedWrites(intent, place), ...leftBehind(intent, place)];
	return [{ put, value: record, lease: lease.id }, ...left];
}

function finishedWrites(
	{ finishedPlan }: Intent,
	{ keys, identity }: Place,
): readonly Write[] {
	if (finishedPlan === null) return [];
	const put = keys.finishedBy(identity.nodeId);
	const version = RECORD_VERSION;
	return [{ put, value: encodeRecord({ version, planId: finishedPlan }) }];
}

/** Who leaves says what follows. */
function leftBehind(
	{ state, departure, cause, since }: Intent,
	{ keys, identity }: Place,
): readonly Write[] {
	const { nodeId, incarnation, hostId, address, role } = identity;
	const version = RECORD_VERSION;
	switch (departure) {
		case undefined: {
			if (state !== "leaving") return [];
			const value = encodeRecord({ version, incarnation });
			return [{ put: keys.leftBy(nodeId), value }];
		}
		case "recreated": {
			const value = encodeRecord({ version, incarnation });
			return [{ put: keys.recreatedBy(nodeId), value }];
		}
		case "replaced": {
			const who = { nodeId, incarnation, hostId, address, role };
			const about = { reason: cause ?? "", at: since };
			const value = encodeRecord({ version, ...who, ...about });
			return [{ put: keys.replacedNode(nodeId), value }];
		}
		default:
			return departure satisfies never;
	}
}
