import { isHopeless } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import type { AgentConfig } from "../../config/agent-config.js";
import {
	encodeRecord,
	recordAt,
} from "../../rendezvous/records/record-codec.js";
import {
	isDistrusted,
	REMEMBERED,
	type RememberedNode,
	rememberedKey,
	withReplacement,
} from "../../rendezvous/records/remembered-node.js";
import type { ReplacedRecord } from "../../rendezvous/records/replaced-record.js";
import type { Store } from "../../rendezvous/store/store.js";

/** Two runs may write at once. */
const MOST_TRIES = 5;

interface Rim {
	readonly store: Store;
	readonly clock: Clock;
	readonly log: Logger;
}

/** Whether runs have replaced this node at least twice within a week. Without an answer it is trusted. */
export async function wasReplacedOften(
	nodeId: string,
	options: Rim & { readonly config: Pick<AgentConfig, "maxNodes" | "backend"> },
): Promise<boolean> {
	const { config, store, clock, log } = options;
	if (config.backend === "memory" || config.maxNodes === 1) return false;
	try {
		const { known } = await read(store, nodeId);
		const isIt = isDistrusted(known, clock.wallTime());
		if (isIt) {
			log.warn(
				`${nodeId} was replaced at least twice within a week: it takes a seat only where no other node can`,
			);
		}
		return isIt;
	} catch (error) {
		// A user of etcd who may see only the run's keys need not hear of it.
		if (!isHopeless(error)) log.debug(messageOf(error));
		return false;
	}
}

/** Remembers across runs that a node was replaced. */
export async function rememberReplacement(
	{ nodeId, reason, at }: ReplacedRecord,
	runId: string,
	{ store, log }: Pick<Rim, "store" | "log">,
): Promise<void> {
	try {
		for (let tries = 0; tries < MOST_TRIES; tries++) {
			const { known, guard } = await read(store, nodeId);
			const record = withReplacement(known, { runId, at, reason });
			const write = { put: guard.key, value: encodeRecord(record) };
			if ((await store.transaction([guard], [write])).succeeded) return;
		}
	} catch (error) {
		log.warn(
			`other runs do not learn that ${nodeId} was replaced: ${messageOf(error)}`,
		);
	}
}

async function read(
	store: Store,
	nodeId: string,
): Promise<{
	readonly known: RememberedNode | undefined;
	readonly guard: { readonly key: string; readonly modRevision: number };
}> {
	const key = rememberedKey(nodeId);
	const snapshot = await store.snapshot([key]);
	const modRevision = snapshot.entries.get(key)?.modRevision ?? 0;
	return {
		known: recordAt(REMEMBERED, snapshot, key),
		guard: { key, modRevision },
	};
}
