import type { Clock } from "../base/clock.js";
import type { LinksNow } from "../links/index.js";
import type { NodeLinks } from "../model/index.js";
import type { Membership } from "../rendezvous/index.js";
import type { NodeDocument, OwnWorker } from "../status/index.js";

/** What a program's launch does on this node now. */
export interface AgentStatus
	extends Pick<NodeDocument, "phase" | "since" | "waitsFor"> {
	/** The newest round whose workers may run; 0 before the first. */
	readonly round: number;
	/** By local rank: the workers of its present or last round. */
	readonly workers: readonly OwnWorker[];
}

/** What the node knows by its links; null: it has none. */
export function linksNow(
	now: LinksNow | undefined,
	riding: Membership["riding"],
	clock: Pick<Clock, "wallTime">,
): NodeLinks | null {
	if (now === undefined) return null;
	if (riding === undefined) return { ...now, riding: null };
	const { forMs, ...counts } = riding;
	const since = Math.round(clock.wallTime() - forMs);
	return { ...now, riding: { since, ...counts } };
}
