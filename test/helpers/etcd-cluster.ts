import { poll } from "./etcd-gateway.js";
import {
	EtcdMember,
	type MemberOptions,
	newToken,
	PortTaken,
} from "./etcd-member.js";
import { freePort } from "./free-port.js";
import { PeerGate } from "./peer-gate.js";

const MOST_TRIES = 5;
const LEADER_LIMIT_MS = 60_000;
const MEMBER_ANSWER_MS = 1_000;

interface ClusterSettings extends MemberOptions {
	/** Members reach each other through gates. */
	readonly hasGates?: boolean;
}

interface Status {
	readonly header: { readonly member_id: string };
	/** "0" or absent: it knows of none. */
	readonly leader?: string;
	readonly raftTerm: string;
}

/**
 * Members of one new cluster, on free ports; resolves when all of them answer.
 *
 * @throws Error with the last lines of a member that ended by itself.
 */
export async function startMembers(
	program: string,
	size: number,
	options: ClusterSettings,
): Promise<readonly EtcdMember[]> {
	for (let tries = 1; ; tries++) {
		const members = await createMembers(program, size, options);
		const starts = members.map((member) => member.start());
		try {
			await Promise.all(starts);
			return members;
		} catch (error) {
			await Promise.all(members.map((member) => member.close()));
			await Promise.allSettled(starts);
			if (!(error instanceof PortTaken) || tries === MOST_TRIES) throw error;
		}
	}
}

/** The member that the newest term's answers name as their leader, where it answers itself. */
export async function leaderOf(
	members: readonly EtcdMember[],
): Promise<EtcdMember> {
	return poll("a leader", LEADER_LIMIT_MS, async () => {
		const answers = await Promise.all(members.map(statusOf));
		const known = answers
			.filter((answer) => answer !== undefined)
			.filter(({ status }) => Number(status.leader ?? 0) !== 0)
			.toSorted(
				(a, b) => Number(b.status.raftTerm) - Number(a.status.raftTerm),
			);
		return known.find(
			({ status }) => status.header.member_id === known[0]?.status.leader,
		)?.member;
	});
}

/** In hexadecimals, as members name themselves to each other. */
export async function memberIdOf(member: EtcdMember): Promise<string> {
	const answer = await statusOf(member);
	if (answer === undefined) throw new Error("this member does not answer");
	return BigInt(answer.status.header.member_id).toString(16);
}

async function createMembers(
	program: string,
	size: number,
	{ hasGates = false, ...options }: ClusterSettings,
): Promise<readonly EtcdMember[]> {
	const names = Array.from({ length: size }, (_, index) => `member-${index}`);
	const places = await Promise.all(
		names.map(async (name) => {
			const ports = { client: await freePort(), peer: await freePort() };
			const gate = hasGates ? await PeerGate.open(ports.peer) : undefined;
			const peerUrl = `http://127.0.0.1:${gate?.port ?? ports.peer}`;
			return { name, ports, gate, peerUrl };
		}),
	);
	const initialCluster = places
		.map((place) => `${place.name}=${place.peerUrl}`)
		.join(",");
	const token = newToken();
	return places.map(
		(place) =>
			new EtcdMember({ ...options, ...place, program, initialCluster, token }),
	);
}

/** Undefined where it does not answer soon: it may be dead or suspended. */
async function statusOf(
	member: EtcdMember,
): Promise<{ member: EtcdMember; status: Status } | undefined> {
	try {
		const path = "/v3/maintenance/status";
		const status = await member.call<Status>(path, {}, MEMBER_ANSWER_MS);
		return { member, status };
	} catch {
		return undefined;
	}
}
