import type { Ending } from "../../src/agent/machine/state.js";
import type { Whereabouts } from "../../src/rendezvous/records/records.js";
import type { History } from "./history.js";
import type { Random } from "./random.js";
import type { SimEtcd } from "./sim-etcd.js";
import type { SimNetwork } from "./sim-links.js";
import type { Situation } from "./situations.js";
import type { Timeline } from "./timeline.js";

/** How the workers of a run behave, as chances. */
export interface WorkerHabits {
	readonly fails: number;
	readonly hangs: number;
	readonly ignoresTerm: number;
	readonly leavesChild: number;
	readonly cannotStart: number;
	/** Even SIGKILL does not end it: the kernel holds it. */
	readonly sticks: number;
	/** It calls the runtime library, and receives what it is told. */
	readonly listens: number;
	/** It receives nothing that comes after its HELLO. */
	readonly neverAcknowledges: number;
	/** One event is received so late that its agent may have given it up. */
	readonly acknowledgesLate: number;
	/** It waits for another round though it has lost nobody. */
	readonly wishes: number;
	/** It dies of the end of one that it worked with, or waits for another round. */
	readonly diesOfPeers: number;
	readonly waitsForPeers: number;
	/** What is to end it does so while it is paused. */
	readonly endsHeld: number;
	/** The disk does not take an event. */
	readonly diskFull: number;
	/** How long one works, in milliseconds. */
	readonly shortestMs: number;
	readonly longestMs: number;
}

/** One who notices that others have ended. */
interface Peer {
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

/** What all processes of a run share. */
export interface SimMachine {
	readonly timeline: Timeline;
	readonly random: Random;
	readonly history: History;
	readonly habits: () => WorkerHabits;
	readonly peers: Peers;
	/** The agents' links to one another; undefined: they have none. */
	readonly network: SimNetwork | undefined;
	/** How long a worker may take to acknowledge PAUSE. */
	readonly pauseTimeoutMs: number;
	readonly say: (who: string, what: string) => void;
	readonly note: (situation: Situation) => void;
}

/** What one agent is started with. */
export interface SimAgentOptions {
	readonly machine: SimMachine;
	readonly etcd: SimEtcd;
	readonly runId: string;
	readonly nodeId: string;
	readonly incarnation: string;
	readonly localWorldSize: number;
	readonly role: string;
	/** Writes in one transaction of a coordinator. */
	readonly batchSize: number;
	/** Whether its watches tell some things twice. */
	readonly doublesHints: boolean;
	/** Whether a process is seen to be dead by others of its node. */
	readonly isDead: (process: Whereabouts) => boolean;
	/** Told when it has been killed. */
	readonly onKilled: () => void;
	/** Told when it has ended by itself. */
	readonly onEnded: (ending: Ending) => void;
}
