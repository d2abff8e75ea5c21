import { formatCount, formatRanks } from "../base/units.js";
import type { RankEvidence } from "../model/index.js";
import type { NodeState, NodeWorker } from "../steps/index.js";
import type { WatchedNode } from "./evidence.js";
import { recordEvidence } from "./evidence-files.js";

/**
 * Finds out what the peers of a failed worker do that do not end when they are told to. It only looks: the signals and the
 * next round do not wait for it.
 */
export class StuckWatch {
	private node: NodeState | undefined;
	/** The round whose peers are looked at, or were. */
	private round: number | undefined;
	private lines: readonly string[] = [];
	private cancel: () => void = () => {};

	constructor(private readonly options: WatchedNode) {}

	/** Takes each new state of the node. */
	follow(node: NodeState): void {
		this.node = node;
		const peers = stuckPeers(node);
		if (peers === undefined || peers.round === this.round) return;
		const { clock } = this.options;
		this.cancel();
		this.round = peers.round;
		this.lines = [];
		const at = lookAt(peers, clock.now());
		this.cancel = clock.wakeAt(at, () => this.look(peers.round));
	}

	/** What was found in a round, for the report. */
	linesOf(round: number | undefined): readonly string[] {
		return round === this.round ? this.lines : [];
	}

	close(): void {
		this.cancel();
	}

	private look(round: number): void {
		const peers = this.node && stuckPeers(this.node);
		if (peers?.round === round) void this.examine(peers);
	}

	private async examine({
		round,
		localRanks,
		killAt: until,
	}: StuckPeers): Promise<void> {
		const { processes, log } = this.options;
		const peers = processes().filter(({ localRank }) =>
			localRanks.includes(localRank),
		);
		const about = { round, name: "stuck", until } as const;
		const { own, directory } = await recordEvidence(peers, this.options, about);
		const found = describeStuck(own);
		if (round !== this.round || found.length === 0) return;
		const place = directory === undefined ? [] : [`evidence: ${directory}`];
		this.lines = [...found, ...place];
		log.warn(`round ${round} is being left: ${this.lines.join("; ")}`);
	}
}

/** How long a worker may take to end before it is looked at, in milliseconds. */
const MOMENT_MS = 1_000;

/** Workers that were told to end because another one has failed, and have not ended. */
interface StuckPeers {
	readonly round: number;
	readonly localRanks: readonly number[];
	/** When the first of them is killed. */
	readonly killAt: number;
}

/** Undefined if there are none. After a hang there are none either: its evidence has been taken. */
export function stuckPeers(state: NodeState): StuckPeers | undefined {
	if (state.phase !== "STOPPING") return undefined;
	const root = rootOf(state);
	if (root === undefined || root.evidence !== undefined) return undefined;
	const isPeer = (worker: NodeWorker) =>
		worker.status === "running" &&
		worker.killAt !== null &&
		worker.pid !== null &&
		worker.pid !== root.pid;
	const peers = state.workers.filter(isPeer);
	if (peers.length === 0) return undefined;
	return {
		round: state.round,
		localRanks: peers.map(({ localRank }) => localRank),
		killAt: Math.min(...peers.flatMap(({ killAt }) => killAt ?? [])),
	};
}

/** When to look at them: there must be time left before they are killed. */
export function lookAt({ killAt }: StuckPeers, now: number): number {
	return now + Math.min(MOMENT_MS, (killAt - now) / 3);
}

/** The failure that ended the round, here or on another node. */
function rootOf({ failure, view, round }: NodeState) {
	const own = failure?.failure;
	const other = view?.round.cause.root ?? undefined;
	return [own, other].find((one) => one?.round === round);
}

/** The report has at most so many lines of it. */
const MOST_LINES = 3;

/**
 * What workers do that were told to end because another one had failed, and have not: one line for each place. Who computes,
 * reads or writes is left out: it may save its state, as it should.
 */
export function describeStuck(
	evidence: readonly RankEvidence[],
): readonly string[] {
	const places = new Map<string, number[]>();
	for (const one of evidence) {
		if (one.activity === "busy" || one.activity === "gone") continue;
		const place = placeOf(one);
		places.set(place, [...(places.get(place) ?? []), one.rank]);
	}
	return [...places].slice(0, MOST_LINES).map(([place, ranks]) => {
		const isOne = ranks.length === 1;
		const verb = isOne ? "was" : "were";
		const noun = isOne ? "rank" : "ranks";
		return `${formatCount(ranks.length, "peer")} ${verb} stuck: ${noun} ${formatRanks(ranks)} ${place}`;
	});
}

function placeOf({ where, activity, waitChannel }: RankEvidence): string {
	const channel = waitChannel === undefined ? "" : ` in ${waitChannel}`;
	const words = {
		stopped: "stopped by SIGSTOP or a debugger",
		blocked: `blocked in the kernel${channel}`,
		idle: where === undefined ? `waiting${channel}` : `at ${where}`,
		busy: "",
		gone: "",
	};
	return words[activity];
}
