import { RunKeys } from "../../rendezvous/records/keys.js";
import { recordAt } from "../../rendezvous/records/record-codec.js";
import { ROUND } from "../../rendezvous/records/record-shapes.js";
import type { Store } from "../../rendezvous/store/store.js";
import type { PortReservation } from "../workers/reserve-port.js";

/**
 * Claims ports other than the master port of the run's newest round, which is looked up at once and only once: an earlier
 * process of this node may have claimed it.
 */
export function otherPorts(
	runId: string,
	store: Promise<Pick<Store, "snapshot">>,
	ports: Pick<PortReservation, "avoid" | "reserve">,
): () => Promise<number> {
	const avoided = newestMasterPort(runId, store).then((port) =>
		ports.avoid(port),
	);
	return async () => {
		await avoided;
		return ports.reserve();
	};
}

/** Undefined if there is none. */
async function newestMasterPort(
	runId: string,
	store: Promise<Pick<Store, "snapshot">>,
): Promise<number | undefined> {
	const { round } = new RunKeys(runId);
	try {
		const snapshot = await (await store).snapshot([round]);
		return recordAt(ROUND, snapshot, round)?.world?.masterPort;
	} catch {
		// Joining the run tells what is wrong.
		return undefined;
	}
}
