import { ElasticRunError } from "../errors.js";
import { decodeRecord } from "./record-codec.js";
import type { AgentIdentity } from "./record-writer.js";
import type { NodeRecord } from "./records.js";
import type { Entry } from "./store.js";

/** @throws ElasticRunError RENDEZVOUS_FAILED where another process has taken this agent's node id */
export function refuseForeign(entry: Entry, identity: AgentIdentity): void {
	const holder = holderOf(entry, identity);
	if (holder !== undefined) throw takenBy(holder, identity);
}

/** The record of another process under this agent's node id. */
export function holderOf(
	entry: Entry,
	{ incarnation }: AgentIdentity,
): NodeRecord | undefined {
	const record = decodeRecord<NodeRecord>(entry);
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
