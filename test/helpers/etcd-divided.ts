import { type EtcdCluster, type EtcdNode, needEtcd, TOGETHER } from "./etcd.js";
import { leaderOf, memberIdOf, startMembers } from "./etcd-cluster.js";
import { onTestFinished } from "./this-test.js";

export interface DivisibleCluster extends EtcdCluster {
	/** Nothing goes any more between this member and the others; clients are heard by all of them. */
	cutOff(member: EtcdNode): Promise<void>;
	/** Everything goes again. */
	reunite(): void;
}

/** Starts three servers as one cluster that can be divided; they end with the test, which is skipped where there is no etcd. */
export async function startDivisibleCluster(): Promise<DivisibleCluster> {
	const settings = { ...TOGETHER, hasGates: true };
	const members = await startMembers(needEtcd(), 3, settings);
	onTestFinished(async () => {
		await Promise.all(members.map((member) => member.close()));
	});
	const bar = (isBarred: (sender: string, to: EtcdNode) => boolean) => {
		for (const member of members) {
			member.gate?.bar((sender) => isBarred(sender, member));
		}
	};
	return {
		endpoints: members.map(({ endpoint }) => endpoint),
		members,
		leader: () => leaderOf(members),
		cutOff: async (node) => {
			const member = members.find(({ endpoint }) => endpoint === node.endpoint);
			if (member === undefined) throw new Error("it is not one of these");
			const id = await memberIdOf(member);
			bar((sender, to) => to === member || sender === id);
		},
		reunite: () => bar(() => false),
	};
}
