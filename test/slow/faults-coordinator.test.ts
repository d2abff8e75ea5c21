import { afterAll, beforeAll, expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { DyingLauncher } from "../helpers/dying-launcher.js";
import { etcdForAll, etcdGet, leaseRevoke } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import type { Launch } from "../helpers/launch.js";
import {
	failWorker,
	type Life,
	livesAt,
	releaseWorkers,
	sawEnd,
} from "../helpers/lives.js";
import { together } from "../helpers/together.js";

/** No run here has as many. */
const MOST_WRITES = 40;
const AT_ONCE = 5;
/** Each second one: the simulator plays the others too. LONG_TESTS=1 plays each here. */
const STEP = process.env.LONG_TESTS ? 1 : 2;
const BOUND_MS = 60_000;

const etcd = etcdForAll();
let launcher: DyingLauncher;
beforeAll(async () => {
	launcher = await DyingLauncher.build();
});
afterAll(() => launcher.remove());

/**
 * Plays a run of two rounds, the first of which ends with the failure of rank 1, on two of three agents.
 * The agent that begins it, and so coordinates it, dies after its n-th write to the store; each seat is a
 * write of its own. Resolves with whether it has made so many.
 */
async function dieAfterWrite(write: number): Promise<boolean> {
	const cluster = new Cluster(etcd(), { nodes: "2", worker: ["beats.js"] });
	const { site, store } = cluster;
	failWorker(site, 1, 1);
	const mortal = cluster.agent("node-a", launcher.after(write));
	await poll(
		"a coordinator",
		BOUND_MS,
		async () => mortal.hasEnded || (await store.coordinator()),
	);
	const others = ["node-b", "node-c"].map((nodeId) => cluster.agent(nodeId));
	const claims = others.map((launch) =>
		launch.saw("stderr", "JOINING claims round"),
	);
	const [died] = await Promise.all([
		endsLeaseOfDead(mortal, cluster),
		// Who comes when the run has ended begins another one.
		Promise.all(claims).then(() => releaseWorkers(site)),
	]);
	await cluster.ends({ "node-b": 0, "node-c": 0 });

	// The failure costs a round, and the death one at most, where it was a member.
	const causes = (await store.history()).map(({ cause }) => cause.reason);
	expect(new Set(causes).size).toBe(causes.length);
	const incidents = causes.filter((cause) => cause.startsWith("rank ")).length;
	expect(await store.round()).toMatchObject({
		...{ incidents, charged: incidents },
		outcome: { result: "succeeded" },
	});
	// It fails unless its round ends before that, and is part of the death where its node had not heard.
	const { length: failures } = others.filter(({ output }) =>
		output.stderr.includes("RUNNING→STOPPING rank 1 failed: exit code 9"),
	);
	const hasLeft = causes.includes("node-a left: lease expired");
	if (!hasLeft) expect(incidents).toBe(failures);
	expect(incidents).toBeLessThanOrEqual(failures);
	for (const cause of causes) {
		expect(cause).toMatch(
			/^start$|^rank 1 on node-[bc]: exit code 9$|^node-a left: lease expired$/,
		);
	}
	expectBarriers(livesAt(site), causes.length);
	return died;
}

/** Waits for the agent's end; where it died, its lease ends when its workers have, as it would by itself later. */
async function endsLeaseOfDead(
	mortal: Launch,
	{ site, store }: Cluster,
): Promise<boolean> {
	const { exitCode, signal } = await mortal.ended;
	if (signal === null) {
		expect(exitCode).toBe(0);
		return false;
	}
	expect(signal).toBe("SIGKILL");
	await sawEnd(livesAt(site, { nodeId: "node-a" }));
	const { keys } = store;
	const entry =
		(await etcdGet(etcd(), keys.node("node-a"))) ??
		(await etcdGet(etcd(), keys.coordinator));
	// After the last writes of its ledger there is none.
	if (entry?.lease !== undefined) await leaseRevoke(etcd(), entry.lease);
	return true;
}

/** Each rank of a round ran once at most, and none before all of the round before had ended. */
function expectBarriers(lives: readonly Life[], rounds: number): void {
	for (let round = 1; round <= rounds; round++) {
		const now = lives.filter((life) => life.round === round);
		const ranks = now.map(({ rank }) => rank);
		expect(new Set(ranks).size).toBe(ranks.length);
		const before = lives.filter((life) => life.round < round);
		const first = Math.min(...now.map(({ born }) => born));
		const last = Math.max(...before.map(({ lastBeat }) => lastBeat));
		expect(last).toBeLessThan(first);
	}
}

it("D6 J3 J5 the coordinator dies after one of its writes, and the others go on where it was", async () => {
	let died = 0;
	let played = 0;
	while (died === played && played * STEP < MOST_WRITES) {
		const writes = Array.from(
			{ length: AT_ONCE },
			(_, index) => 1 + (played + index) * STEP,
		);
		await together(
			Object.fromEntries(
				writes.map((write) => [
					`after write ${write}`,
					async () => {
						if (await dieAfterWrite(write)) died += 1;
					},
				]),
			),
		);
		played += AT_ONCE;
	}
	// Some of the last ones were more than it made.
	expect(died).toBeLessThan(played);
	expect(died * STEP).toBeGreaterThan(10);
}, 240_000);
