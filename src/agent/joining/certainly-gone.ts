import { attempt } from "../../base/attempt.js";
import { socketsListeningAt } from "../../base/listening-sockets.js";
import { isGone } from "../../channel/index.js";
import type { Whereabouts } from "../../rendezvous/index.js";

/** What this machine shows of its processes. */
export interface Machine {
	readonly isGone: (process: Pick<Whereabouts, "pid" | "startTime">) => boolean;
	/** False if unknown. */
	readonly isFree: (port: number) => boolean;
}

export const THIS_MACHINE: Machine = {
	isGone,
	isFree: (port) => {
		return attempt(() => socketsListeningAt(port).length === 0) ?? false;
	},
};

/**
 * Whether a process has certainly ended, as far as this one can tell. False if it may live. Three things are certain:
 *
 * - it counted its pids as this one does, and none is its own;
 * - its machine was rebooted;
 * - it was in another container of this machine with the network of this one, as before a restart in place, and nobody
 *   listens where it did.
 */
export function isCertainlyGone(
	other: Whereabouts,
	own: Whereabouts,
	machine = THIS_MACHINE,
): boolean {
	if (other.hostId === "" || own.hostId === "") return false;
	if (other.hostId === own.hostId) return machine.isGone(other);
	const [boot, ownBoot] = [bootOf(other), bootOf(own)];
	if (boot !== ownBoot) {
		const isKnown = other.machineId !== undefined;
		// Machines that were copied have one id, but not one address.
		const { machineId, address } = own;
		return (
			isKnown && other.machineId === machineId && other.address === address
		);
	}
	const { network, linkPort } = other;
	if (network === undefined || network !== own.network) return false;
	if (linkPort === undefined) return false;
	return linkPort === own.linkPort || machine.isFree(linkPort);
}

/** The first word of a host id: see `hostIdOf`. */
function bootOf({ hostId }: Whereabouts): string | undefined {
	return hostId.split(" ")[0];
}
