import { describe, expect, test } from "vitest";
import {
	type EtcdCluster,
	type EtcdNode,
	etcdGet,
	etcdPut,
	startEtcdCluster,
} from "../helpers/etcd.js";
import { Follower, holdKey, insist, openStore } from "../helpers/etcd-store.js";
import { waitFor } from "../helpers/processes.js";

const PREFIX = "/elastic-run/members/";
const HELD = `${PREFIX}held`;

/** A user of each member, who holds a lease and follows. */
async function usersOf({ endpoints }: EtcdCluster) {
	return Promise.all(
		endpoints.map(async (_, place) => {
			// The first endpoint that it asks; later ones are its own choice.
			let isFirst = true;
			const random = () => {
				const chance = isFirst ? place / endpoints.length : Math.random();
				isFirst = false;
				return chance;
			};
			const store = await openStore(endpoints, { random });
			const key = `${HELD}/${place}`;
			const { lease, losses } = await holdKey(store, key, 5_000);
			const follower = new Follower(store, PREFIX);
			await waitFor("a look", () => follower.latest);
			return { store, key, lease, losses, follower };
		}),
	);
}

type User = Awaited<ReturnType<typeof usersOf>>[number];

/** All users write, hear of it, and keep their leases alive. */
async function expectToGoOn(
	users: readonly User[],
	round: string,
): Promise<void> {
	const key = `${PREFIX}round`;
	const since = performance.now();
	for (const { store } of users) {
		await insist(() => store.transaction([], [{ put: key, value: round }]));
	}
	for (const { follower, lease } of users) {
		await waitFor("the round", () => follower.valueOf(key) === round);
		await waitFor("a keepalive", () => lease.expiresAt > since + 5_000);
	}
}

/** A member that does not lead. */
function followerIn(cluster: EtcdCluster, leader: EtcdNode): EtcdNode {
	const other = cluster.members.find(
		({ endpoint }) => endpoint !== leader.endpoint,
	);
	if (other === undefined) throw new Error("there is no other member");
	return other;
}

describe("three members", () => {
	test.each([
		[
			"killed",
			(node: EtcdNode) => node.kill(),
			(node: EtcdNode) => node.restart(),
		],
		[
			"frozen",
			(node: EtcdNode) => node.suspend(),
			(node: EtcdNode) => node.resume(),
		],
	])("carry on over a leader that is %s, and after it is back (J6)", async (_, fell, raise) => {
		const cluster = await startEtcdCluster(3);
		const users = await usersOf(cluster);
		const leader = await cluster.leader();
		const witness = followerIn(cluster, leader);
		const held = await Promise.all(
			users.map(({ key }) => etcdGet(witness, key)),
		);
		await fell(leader);
		await expectToGoOn(users, "without it");
		await raise(leader);
		await expectToGoOn(users, "with it");
		expect(
			await Promise.all(users.map(({ key }) => etcdGet(witness, key))),
		).toEqual(held);
		expect(users.flatMap(({ losses }) => losses)).toEqual([]);
	});

	test("that have lost their majority reject calls in time, and are heard again when it is back", async () => {
		const cluster = await startEtcdCluster(3);
		const users = await usersOf(cluster);
		const fallen = cluster.members.slice(1);
		for (const member of fallen) member.suspend();
		await Promise.all(
			users.map(async ({ store }) => {
				const began = performance.now();
				await expect(
					(async () => {
						for (;;) await store.snapshot([PREFIX]);
					})(),
				).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
				expect(performance.now() - began).toBeLessThan(10_000);
			}),
		);
		for (const member of fallen) member.resume();
		const key = `${PREFIX}after`;
		const [anyone] = users;
		await insist(async () =>
			anyone?.store.transaction([], [{ put: key, value: "1" }]),
		);
		for (const { follower } of users) {
			await waitFor("the change", () => follower.valueOf(key) === "1");
		}
	});

	test("are left by a watch where they have lost the others, though nobody calls", async () => {
		const cluster = await startEtcdCluster(3);
		const store = await openStore(cluster.endpoints, { random: () => 0 });
		const follower = new Follower(store, PREFIX);
		await etcdPut(await cluster.leader(), `${PREFIX}before`, "1");
		await waitFor("a look", () => follower.valueOf(`${PREFIX}before`));
		const { connections } = store.metrics;
		const fallen = cluster.members.slice(1);
		for (const member of fallen) member.suspend();
		await waitFor(
			"another member",
			() => store.metrics.connections > connections,
		);
		for (const member of fallen) member.resume();
		const put = `${PREFIX}after`;
		await insist(() => store.transaction([], [{ put, value: "1" }]));
		await waitFor("a look", () => follower.valueOf(put));
	});
});
