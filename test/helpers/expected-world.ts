import { expect } from "vitest";
import type { WorkerRecord } from "./launch.js";

/** What the workers of one node can be expected to be told. */
export interface NodeOfWorld {
	readonly nodeId: string;
	readonly nproc: number;
	readonly role: string;
}

/** The variables that follow from who is in a round, in which order; the others are the same for all workers of it. */
const RANK_VARIABLES = [
	...["ELASTIC_RUN_NODE_ID", "RANK", "LOCAL_RANK", "GROUP_RANK"],
	...["ROLE_NAME", "ROLE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"],
	...["GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE"],
] as const;

/** The same in all workers of a round, whatever it is. */
const SHARED_VARIABLES = [
	...["MASTER_ADDR", "MASTER_PORT", "ELASTIC_RUN_INSTANCE"],
	...["ELASTIC_RUN_ROUND", "ELASTIC_RUN_RUN_ID"],
	...["TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_RUN_ID"],
] as const;

/** Checks what the workers of a round were told, by rank, where its members are these in this order. */
export function expectWorld(
	workers: readonly WorkerRecord[],
	nodes: readonly NodeOfWorld[],
): void {
	const told = workers.map(({ env }) => pick(env, RANK_VARIABLES));
	expect(told).toEqual(expectedRanks(nodes));
	const shared = workers.map(({ env }) => pick(env, SHARED_VARIABLES));
	expect(shared).toEqual(shared.map(() => shared[0]));
}

/** The rank variables of each of them. */
function expectedRanks(
	nodes: readonly NodeOfWorld[],
): readonly Readonly<Record<string, string>>[] {
	const worldSize = sizeOf(nodes);
	let rank = 0;
	const roleRanks = new Map<string, number>();
	return nodes.flatMap(({ nodeId, nproc, role }, groupRank) =>
		Array.from({ length: nproc }, (_, localRank) => {
			const roleRank = roleRanks.get(role) ?? 0;
			roleRanks.set(role, roleRank + 1);
			return {
				ELASTIC_RUN_NODE_ID: nodeId,
				RANK: String(rank++),
				LOCAL_RANK: String(localRank),
				GROUP_RANK: String(groupRank),
				ROLE_NAME: role,
				ROLE_RANK: String(roleRank),
				WORLD_SIZE: String(worldSize),
				LOCAL_WORLD_SIZE: String(nproc),
				GROUP_WORLD_SIZE: String(nodes.length),
				ROLE_WORLD_SIZE: String(
					sizeOf(nodes.filter((node) => node.role === role)),
				),
			};
		}),
	);
}

export function sizeOf(nodes: readonly NodeOfWorld[]): number {
	return nodes.reduce((sum, { nproc }) => sum + nproc, 0);
}

function pick(
	env: WorkerRecord["env"],
	names: readonly string[],
): Readonly<Record<string, string | undefined>> {
	return Object.fromEntries(names.map((name) => [name, env[name]]));
}
