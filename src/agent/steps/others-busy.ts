import type { RunKeys } from "../../rendezvous/records/keys.js";
import { PROGRESS } from "../../rendezvous/records/progress-record.js";
import { informationAt } from "../../rendezvous/records/record-codec.js";
import type { Store } from "../../rendezvous/store/store.js";

export interface OthersOptions {
	readonly store: Pick<Store, "snapshot">;
	readonly keys: RunKeys;
	readonly nodeId: string;
	readonly instance: number;
	readonly round: number;
}

/**
 * Until when a worker of another node has announced that no step comes, in milliseconds since 1970; 0 if none has, or the
 * store does not answer. The workers here may wait for that one.
 */
export async function othersBusyUntil({
	store,
	keys,
	nodeId,
	instance,
	round,
}: OthersOptions): Promise<number> {
	try {
		const snapshot = await store.snapshot([keys.progress]);
		const others = [...snapshot.entries.keys()]
			.filter((key) => key !== keys.progressOf(nodeId))
			.flatMap((key) => informationAt(PROGRESS, snapshot, key, () => {}) ?? [])
			.filter((one) => one.round === round && one.instance === instance);
		return Math.max(0, ...others.map(({ busyUntil = 0 }) => busyUntil));
	} catch {
		return 0;
	}
}
