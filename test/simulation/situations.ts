import { EXIT_CODES } from "../../src/base/errors.js";
import {
	type History,
	lifts,
	predecessor,
	type RoundCommit,
} from "./history.js";
import { SIM_POLICIES } from "./sim-policies.js";
import { SOFT_SITUATIONS, softSituationsOf } from "./soft-situations.js";

/** What the simulator is played for: each of these must come about in the seeds of the test run. */
export const SITUATIONS = [
	"a deposed coordinator writes, and is refused",
	"a lease lapses while its agent lives",
	"a restart of the store extends leases",
	"the store is emptied under living agents",
	"a record is deleted by hand",
	"a lift takes several transactions",
	"a fault strikes a coordinator between two of its writes",
	"a fault strikes while a barrier is waited for",
	"a fault strikes while workers start",
	"a replacement takes the node id of a frozen process",
	"a machine sleeps longer than its lease lives",
	"several newcomers are let in at once",
	"roles differ in one round",
	"a round of more than six nodes",
	"a round is left after some of its members have finished",
	"a node is refused because its budget is spent",
	"a refused node is refused again as another process",
	"an agent leaves behind what SIGKILL does not end",
	"an agent is asked to leave, and the others go on",
	"the run is started again under its id",
	"fewer than MIN are left",
	"a failure costs nothing: a node has gone",
	"a node finishes without a worker whose failure was ignored",
	"a guard's word ends the lease of a dead agent",
	"a guard's word comes after its node's next process",
	...SOFT_SITUATIONS,
] as const;

export type Situation = (typeof SITUATIONS)[number];

/** The situations of a run: those noted while they came about, and those that its history shows. */
export function situationsOf(history: History): ReadonlySet<Situation> {
	return new Set([
		...history.noted,
		...amongRounds(history),
		...amongProcesses(history),
		...(SIM_POLICIES[history.policy].family === "soft"
			? softSituationsOf(history)
			: []),
	]);
}

function* amongRounds(history: History): Iterable<Situation> {
	const lifted = lifts(history);
	for (const [index, { seats, round }] of lifted.entries()) {
		const roles = new Set([...seats.values()].map(({ role }) => role));
		if (roles.size > 1) yield "roles differ in one round";
		if (seats.size > 6) yield "a round of more than six nodes";
		const before = lifted[index - 1];
		if (before?.round.instance !== round.instance) continue;
		const known = new Set(membersOf(before));
		const newcomers = membersOf({ seats }).filter((name) => !known.has(name));
		const isScaleUp = round.cause.kind === "scale-up";
		if (isScaleUp && newcomers.length > 1) {
			yield "several newcomers are let in at once";
		}
	}
	for (const [index, { round, nodes, seats }] of history.commits.entries()) {
		const unpaid = predecessor(history, index)?.round.unpaid;
		if (unpaid && !unpaid.isWish && !round.unpaid && !round.cause.root) {
			yield "a failure costs nothing: a node has gone";
		}
		const isLeft = round.synced > 0 && round.deprecated === round.synced;
		const someFinished = [...nodes.values()].some(
			({ state, claim, nodeId }) =>
				state === "finished" && claim === round.synced && seats.has(nodeId),
		);
		if (isLeft && someFinished) {
			yield "a round is left after some of its members have finished";
		}
		if (round.outcome?.exitCode === EXIT_CODES.rendezvous) {
			yield "fewer than MIN are left";
		}
	}
	const starts = new Set(history.commits.map(({ round }) => round.instance));
	if (starts.size > 1) yield "the run is started again under its id";
}

function membersOf({ seats }: Pick<RoundCommit, "seats">): readonly string[] {
	return [...seats.values()].map(({ incarnation }) => incarnation);
}

function* amongProcesses(history: History): Iterable<Situation> {
	const refused = new Set<string>();
	for (const { ending, nodeId, endedAt, stopsAsked } of history.processes) {
		if (ending === null || endedAt === null) continue;
		if (ending.reason.includes("used up its budget")) {
			yield "a node is refused because its budget is spent";
			if (refused.has(nodeId)) {
				yield "a refused node is refused again as another process";
			}
			refused.add(nodeId);
		}
		if (ending.reason.includes("SIGKILL")) {
			yield "an agent leaves behind what SIGKILL does not end";
		}
		const goesOn = lifts(history).some(({ at }) => at > endedAt);
		if (stopsAsked.length > 0 && goesOn) {
			yield "an agent is asked to leave, and the others go on";
		}
	}
	for (const { record } of history.records) {
		if (record?.state !== "finished" || history.policy !== "ignore") continue;
		const hasIgnored = history.workers.some(
			({ process, failed, stints }) =>
				process.incarnation === record.incarnation &&
				stints.at(-1)?.round === record.claim &&
				failed,
		);
		if (hasIgnored) {
			yield "a node finishes without a worker whose failure was ignored";
		}
	}
	if (history.processes.some(({ recordTaken }) => recordTaken.length > 0)) {
		yield "a record is deleted by hand";
	}
}
