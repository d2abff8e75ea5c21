import { ElasticRunError } from "../../base/errors.js";
import type { AgentIdentity } from "../records/intent.js";
import type { NodeRecord } from "../records/records.js";
import { decodeNode } from "../records/run-view.js";
import type { Entry } from "../store/store.js";

/** @throws ElasticRunError RENDEZVOUS_FAILED if another process has taken this agent's node id */
export function refuseForeign(entry: Entry, identity: AgentIdentity): void {
	const holder = holderOf(entry, identity);
	if (holder !== undefined) throw takenBy(holder, identity);
}

/** The record of another process with this agent's node id. */
export function holderOf(
	entry: Entry,
	{ incarnation }: AgentIdentity,
): NodeRecord | undefined {
	const record = decodeNode(entry);
	return record.incarnation === incarnation ? undefined : record;
}

export function takenBy(
	holder: NodeRecord,
	own: AgentIdentity,
): ElasticRunError {
	const isHere = holder.hostId === own.hostId && own.hostId !== "";
	const where = isHere ? "this machine" : `the machine at ${holder.address}`;
	return new ElasticRunError(
		"RENDEZVOUS_FAILED",
		`node id ${holder.nodeId} is taken by pid ${holder.pid} on ${where}; give this agent another --node-id`,
	);
}
