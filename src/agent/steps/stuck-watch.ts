import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import { describeStuck } from "../../evidence/describe-stuck.js";
import type { WorkerProgress } from "../../rendezvous/records/progress-record.js";
import type { AgentState } from "../machine/state.js";
import {
	type RecordEvidenceOptions,
	recordEvidence,
} from "./record-evidence.js";
import { lookAt, type StuckPeers, stuckPeers } from "./stuck-peers.js";

export interface StuckWatchOptions
	extends Omit<RecordEvidenceOptions, "round" | "until" | "name"> {
	readonly clock: Clock;
	readonly log: Pick<Logger, "warn">;
	readonly progress: () => readonly WorkerProgress[];
}

/**
 * Finds out what the peers of a failed worker do that do not end when they are told to. It only looks: the signals and the
 * next round do not wait for it.
 */
export class StuckWatch {
	private state: AgentState | undefined;
	/** The round whose peers are looked at, or were. */
	private round: number | undefined;
	private lines: readonly string[] = [];
	private cancel: () => void = () => {};

	constructor(private readonly options: StuckWatchOptions) {}

	/** Takes each new state of the agent. */
	follow(state: AgentState): void {
		this.state = state;
		const peers = stuckPeers(state);
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
		const peers = this.state && stuckPeers(this.state);
		if (peers?.round === round) void this.ask(peers);
	}

	private async ask({ round, localRanks, killAt }: StuckPeers): Promise<void> {
		const { processes, progress, log } = this.options;
		const meant = processes().filter(({ localRank }) =>
			localRanks.includes(localRank),
		);
		const { own, directory } = await recordEvidence(progress(), {
			...{ ...this.options, round, until: killAt, name: "stuck" },
			processes: () => meant,
		});
		const found = describeStuck(own);
		if (round !== this.round || found.length === 0) return;
		const place = directory === undefined ? [] : [`evidence: ${directory}`];
		this.lines = [...found, ...place];
		log.warn(`round ${round} is being left: ${this.lines.join("; ")}`);
	}
}
