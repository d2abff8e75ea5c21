/** One who notices that others have ended. */
export interface Peer {
	losePeer(): void;
}

/** Who works in which world, so that the end of one is felt by the others. */
export class Peers {
	private readonly worlds = new Map<string, Set<Peer>>();

	enter(world: string, peer: Peer): void {
		const peers = this.worlds.get(world) ?? new Set();
		this.worlds.set(world, peers.add(peer));
	}

	leave(world: string, peer: Peer): void {
		this.worlds.get(world)?.delete(peer);
	}

	tellOfLoss(world: string): void {
		for (const peer of this.worlds.get(world) ?? []) peer.losePeer();
	}
}
