import type { WorkerInfo } from "../../channel/events.js";
import type {
	RoundRecord,
	SeatRecord,
} from "../../rendezvous/records/records.js";

/** A worker's place: the round's figures, and its seat's first ranks plus its local rank. */
export function workerInfo(
	runId: string,
	round: RoundRecord,
	seat: SeatRecord,
	localRank: number,
): WorkerInfo {
	const { world } = round;
	if (world === null) {
		throw new Error(`round ${round.synced} is synced without a world`);
	}
	return {
		localRank,
		roleRank: seat.firstRoleRank + localRank,
		rank: seat.firstRank + localRank,
		localWorldSize: seat.localWorldSize,
		roleWorldSize: world.roleWorldSizes[seat.role] ?? seat.localWorldSize,
		worldSize: world.worldSize,
		groupRank: seat.groupRank,
		groupWorldSize: world.groupWorldSize,
		role: seat.role,
		masterAddr: world.masterAddr,
		masterPort: world.masterPort,
		round: round.synced,
		restartCount: round.incidents,
		runId,
	};
}
