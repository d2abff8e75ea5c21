import { expect } from "vitest";
import type { Cluster } from "./cluster.js";
import { livesAt, releaseWorkers, sawEnd, sawLives } from "./lives.js";

/** A node that is cut off from the store, by what was done before this is called. */
interface CutOff {
	readonly cluster: Cluster;
	readonly lost: string;
	/** The others by rank. */
	readonly others: readonly string[];
	/** Lets it come back. */
	readonly heal: () => unknown;
}

/**
 * Checks that it has no worker any more before the others run without it, that it comes back as the
 * last one, and that this costs nothing; and lets the run end.
 */
export async function expectFencedAndBack({
	cluster,
	lost,
	others,
	heal,
}: CutOff): Promise<void> {
	const { site, store } = cluster;
	await cluster.world(2, ...others);
	const [firstWithout] = await sawLives(site, others.length, { round: 2 });
	const ended = livesAt(site, { nodeId: lost });
	expect(ended).toHaveLength(1);
	await sawEnd(ended);
	const [last] = livesAt(site, { nodeId: lost });
	expect(last?.lastBeat).toBeLessThan(firstWithout?.born ?? 0);

	const launch = cluster.launchOf(lost);
	await launch.saw(
		"stderr",
		"RUNNING→STOPPING this node's lease was not confirmed for",
	);
	await launch.saw("stderr", "the store is lost, and is tried again: ");
	await heal();
	await cluster.world(3, ...others, lost);
	await launch.saw("stderr", "the store is back after ");
	const round = await store.round();
	expect(round).toMatchObject({ incidents: 0, charged: 0 });
	const causes = (await store.history()).map(({ cause }) => cause.reason);
	// On a busy machine another one may have missed its keepalives as well.
	expect(causes[1]).toContain(`${lost} left: lease expired`);
	releaseWorkers(site);
	const all = [...others, lost].map((nodeId) => [nodeId, 0]);
	await cluster.ends(Object.fromEntries(all));
}
