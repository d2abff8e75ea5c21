import type { Clock } from "../../base/clock.js";
import type { Compare, Lease, Snapshot, Write } from "../store/store.js";
import type { AgentIdentity } from "./intent.js";
import type { RunKeys } from "./keys.js";
import { encodeRecord } from "./record-codec.js";
import { type NodeRecord, RECORD_VERSION } from "./records.js";
import { commandWrite, type OwnCommand } from "./run-command.js";

export interface OwnRecordOptions {
	readonly clock: Clock;
	readonly keys: RunKeys;
	readonly identity: AgentIdentity;
	readonly lease: Lease;
	/** What this agent runs; undefined if it is not compared. */
	readonly command?: OwnCommand | undefined;
}

/** A write that succeeds only while its key is as it was read. */
export interface GuardedWrite {
	readonly guard: Compare;
	readonly write: Write;
}

/** What this agent runs, as the command of its role. */
export function ownCommand(
	{ entries }: Snapshot,
	instance: number,
	{ keys, identity, command }: OwnRecordOptions,
): readonly GuardedWrite[] {
	if (command === undefined) return [];
	const key = keys.command(identity.role);
	return [commandWrite(key, command.command, instance, entries.get(key))];
}

/** The first record of an agent, which replaces what was read under its node id. */
export function ownRecord(
	{ entries }: Snapshot,
	instance: number,
	{ clock, keys, identity, lease }: OwnRecordOptions,
): GuardedWrite {
	const record: NodeRecord = {
		version: RECORD_VERSION,
		...identity,
		instance,
		state: "joining",
		since: clock.wallTime(),
		pids: [],
		claim: 0,
		failure: null,
		cause: null,
		masterPort: 0,
	};
	const key = keys.node(identity.nodeId);
	return {
		guard: { key, modRevision: entries.get(key)?.modRevision ?? 0 },
		write: { put: key, value: encodeRecord(record), lease: lease.id },
	};
}
