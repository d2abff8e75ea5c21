import { formatCount, formatRanks } from "../base/units.js";
import { durationInWords } from "../config/index.js";
import type { RankEvidence } from "../model/index.js";
import type { NodeProcess, NodeState, NodeWorker } from "../steps/index.js";
import { waitsInVain } from "./accusation.js";
import { takeEvidence, type WatchedNode } from "./evidence.js";
import { recordEvidence } from "./evidence-files.js";

/** How long a worker may take to end before it is looked at, in milliseconds. */
const MOMENT_MS = 1_000;
/** How often those are looked at that may come to wait for a dead one, in milliseconds. */
const AGAIN_MS = 2_000;
/** The most that such a look may take, in milliseconds. */
const LOOK_WITHIN_MS = 2_000;

export interface StuckWatchOptions extends WatchedNode {
	/** How long after SIGTERM one is given up that waits for a dead one, in milliseconds; 0: never. */
	readonly stuckMs: number;
	/** Until when a worker has announced that it is busy, on the clock. */
	readonly busyUntil: (process: NodeProcess) => number;
	/** Called with a worker that waits for a dead one and has nothing to save. */
	readonly onStuck: (process: NodeProcess) => void;
}

/**
 * Finds out what the peers of a failed worker do that do not end when they are told to. The next round does not wait for
 * it, nor for those peers that wait for the dead one themselves.
 */
export class StuckWatch {
	private node: NodeState | undefined;
	/** The round whose peers are looked at, or were. */
	private round: number | undefined;
	private lines: readonly string[] = [];
	private cancelTold: () => void = () => {};
	private cancelEnd: () => void = () => {};

	constructor(private readonly options: StuckWatchOptions) {}

	/** Takes each new state of the node. */
	follow(node: NodeState): void {
		this.node = node;
		const peers = stuckPeers(node);
		if (peers === undefined || peers.round === this.round) return;
		const { clock, stuckMs } = this.options;
		const now = clock.now();
		this.cancel();
		this.round = peers.round;
		this.lines = [];
		if (!peers.areKnown) {
			const tell = () => this.look((found) => this.tell(found));
			this.cancelTold = clock.wakeAt(lookAt(peers, now), tell);
		}
		if (stuckMs > 0) this.endAt(now + stuckMs);
	}

	/** What was found in a round, for the report. */
	linesOf(round: number | undefined): readonly string[] {
		return round === this.round ? this.lines : [];
	}

	close(): void {
		this.node = undefined;
		this.cancel();
	}

	private cancel(): void {
		this.cancelTold();
		this.cancelEnd();
	}

	private look(then: (peers: StuckPeers) => Promise<void>): void {
		const { peers } = this;
		if (peers !== undefined) void then(peers);
	}

	/** Those of the round that is looked at; undefined once none is left. */
	private get peers(): StuckPeers | undefined {
		const peers = this.node && stuckPeers(this.node);
		return peers?.round === this.round ? peers : undefined;
	}

	private processesOf({ localRanks }: StuckPeers): readonly NodeProcess[] {
		return this.options
			.processes()
			.filter(({ localRank }) => localRanks.includes(localRank));
	}

	/** Who has announced that it is busy is not stuck. */
	private async tell(peers: StuckPeers): Promise<void> {
		const { round, killAt: until } = peers;
		const { clock, busyUntil } = this.options;
		const about = { round, name: "stuck", until } as const;
		const processes = this.processesOf(peers).filter(
			(process) => busyUntil(process) <= clock.now(),
		);
		if (processes.length === 0) return;
		const recorded = await recordEvidence(processes, this.options, about);
		const { own, directory } = recorded;
		const found = describeStuck(own);
		if (round !== this.round || found.length === 0) return;
		const place = directory === undefined ? [] : [`evidence: ${directory}`];
		this.lines = [...found, ...place];
		const words = this.lines.join("; ");
		this.options.log.warn(`round ${round} is being left: ${words}`);
	}

	private endAt(at: number): void {
		const end = () => this.look((peers) => this.end(peers));
		this.cancelEnd = this.options.clock.wakeAt(at, end);
	}

	/** Gives up those that wait for a dead worker. While one is busy, the others may wait for that one. */
	private async end(peers: StuckPeers): Promise<void> {
		const { clock, log, stuckMs, busyUntil, onStuck } = this.options;
		const now = clock.now();
		const processes = this.processesOf(peers);
		const isBusy = processes.some((one) => busyUntil(one) > now);
		const until = Math.min(peers.killAt, now + LOOK_WITHIN_MS);
		const found = isBusy
			? []
			: await takeEvidence(processes, this.options, until);
		const left = this.peers;
		if (left === undefined || left.round !== peers.round) return;
		for (const { evidence } of found) {
			const { rank, pid, where } = evidence;
			const process = processes.find((one) => one.pid === pid);
			if (!process || !waitsInVain(evidence)) continue;
			const limit = durationInWords(stuckMs);
			log.warn(
				`rank ${rank} waits for a worker that has ended, at ${where}: it is killed ${limit} after SIGTERM (--stuck-timeout)`,
			);
			onStuck(process);
		}
		if (this.peers !== undefined) this.endAt(clock.now() + AGAIN_MS);
	}
}

/** Workers that were told to end because another one has failed, and have not ended. */
interface StuckPeers {
	readonly round: number;
	readonly localRanks: readonly number[];
	/** When the first of them is killed. */
	readonly killAt: number;
	/** What they do has been found out: their round hung. */
	readonly areKnown: boolean;
}

/** Undefined if there are none. */
export function stuckPeers(state: NodeState): StuckPeers | undefined {
	if (state.phase !== "STOPPING") return undefined;
	const root = rootOf(state);
	if (root === undefined) return undefined;
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
		areKnown: root.evidence !== undefined,
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
