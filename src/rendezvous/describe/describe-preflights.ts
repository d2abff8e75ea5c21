import type { RunKeys } from "../records/keys.js";
import { PREFLIGHT } from "../records/preflight-record.js";
import { informationAt, type Warn } from "../records/record-codec.js";
import type { Snapshot } from "../store/store.js";
import type { PreflightStatus } from "./run-status.js";

/** What nodes found out about themselves before they joined, by name. */
export function preflightsOf({
	keys,
	snapshot,
	warn,
}: {
	readonly keys: RunKeys;
	readonly snapshot: Snapshot;
	readonly warn: Warn;
}): readonly PreflightStatus[] {
	return [...snapshot.entries.keys()]
		.filter((key) => key.startsWith(keys.preflights))
		.sort()
		.flatMap((key) => {
			const record = informationAt(PREFLIGHT, snapshot, key, warn);
			if (record === undefined) return [];
			const { nodeId, verdict, findings, at } = record;
			return [{ nodeId, verdict, findings, at }];
		});
}
