import { it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { startDivisibleCluster } from "../helpers/etcd-divided.js";
import { poll } from "../helpers/etcd-gateway.js";
import { expectFencedAndBack } from "../helpers/expect-fenced.js";
import { together } from "../helpers/together.js";

const BOUND_MS = 60_000;
/**
 * So long that the others have a leader again: an election takes seconds where the votes are split,
 * and a busy machine has some of its own.
 */
const ELECTION_TTL = 12;

/** The coordinator knows only one member, the leader or another one, which is cut off from the others. */
async function fence(isLeader: boolean): Promise<void> {
	const etcd = await startDivisibleCluster();
	const leader = await etcd.leader();
	const followers = etcd.members.filter((member) => member !== leader);
	const [lone, asked, third] = isLeader
		? [leader, ...followers]
		: [...followers, leader];
	if (!lone || !asked || !third) throw new Error("there are not three members");
	const cluster = new Cluster(asked, {
		nodes: "2:3",
		conf: { lease_ttl: ELECTION_TTL },
		worker: ["beats.js"],
	});
	cluster.agent("node-a", { endpoint: lone.endpoint });
	await poll("a coordinator", BOUND_MS, () => cluster.store.coordinator());
	const endpoint = [asked, third].map((member) => member.endpoint).join();
	for (const nodeId of ["node-b", "node-c"])
		cluster.agent(nodeId, { endpoint });
	const members = await cluster.form("node-a", "node-b", "node-c");
	await etcd.cutOff(lone);
	await expectFencedAndBack({
		cluster,
		lost: "node-a",
		others: members.filter((nodeId) => nodeId !== "node-a"),
		heal: () => etcd.reunite(),
	});
}

it("T5 T8 J14 a member of an etcd that is cut off from the others leaves an agent that knows no other one without workers before the others run without it, until it is back", () =>
	together({
		"the leader": () => fence(true),
		"another one": () => fence(false),
	}));
