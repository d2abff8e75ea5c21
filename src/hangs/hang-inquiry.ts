import { channelPaths, hookPaths } from "../channel/index.js";
import type { StepsConfig } from "../config/index.js";
import { raisedWords, readException, type Trace } from "../failures/index.js";
import type {
	EvidenceRecord,
	Hang,
	ProgressRecord,
	RankEvidence,
	Suspect,
	Topic,
} from "../model/index.js";
import type { NodeProcess, RunningNode } from "../steps/index.js";
import { type Verdict, waitsForOthers } from "./accusation.js";
import type { WatchedNode } from "./evidence.js";
import { recordEvidence, recordVerdict } from "./evidence-files.js";
import { othersNow, type PlaceInRound, shareEvidence } from "./others.js";
import type { Standstill } from "./standstill.js";
import {
	asStandIn,
	causeOf,
	describeHang,
	firstOf,
	hangVerdict,
} from "./verdict.js";

/** Lines of evidence in a report. */
const MOST_LINES = 5;
/** How long another node may take to act on what all agree on, in milliseconds, before this one does. */
const ACTS_WITHIN_MS = 10_000;
/** How often a node that waits for a busy one looks whether it still is, in milliseconds. */
const BUSY_LOOK_MS = 5_000;
/** The part of `--evidence-timeout` that a slow store has for its answer: the rest is for the evidence itself. */
const ANSWER_PART = 0.6;

/** Why a worker is to be ended that has not ended by itself. */
export interface HungWorker {
	readonly round: number;
	/** As rules name it. */
	readonly cause: "hang" | "slow" | "start" | "crash";
	readonly description: string;
	readonly stillMs: number;
	/** The run fails, whatever budget is left. */
	readonly failsRun: boolean;
	/** Its last step. */
	readonly step: number | undefined;
	/** What was found out, in at most five lines. */
	readonly evidence?: readonly string[];
	/** It only stands for its round. */
	readonly isUnattributed?: boolean;
	readonly hint?: string;
	readonly trace?: Trace;
}

export type OnHung = (process: NodeProcess, hung: HungWorker) => void;

export interface HangInquiryOptions extends WatchedNode {
	readonly steps: Pick<StepsConfig, "onHang" | "evidenceMs">;
	readonly topics: {
		readonly progress: Pick<Topic<ProgressRecord>, "read">;
		readonly evidence: Topic<EvidenceRecord>;
	};
	readonly onHung: OnHung;
}

/** A round in which no step has come: evidence takes seconds. */
export interface StillRound {
	isOver(): boolean;
	/** Whether a worker has made a step since, or is busy. */
	goesOn(): boolean;
}

/** What an inquiry has found. */
export interface Finding {
	/** Undefined: it is no hang. */
	readonly hang: Hang | undefined;
	/** When to judge again, on the clock; undefined: only after a worker makes a step. */
	readonly again: number | undefined;
}

/** A hang with all that is known of it. */
interface Case {
	readonly standstill: Standstill;
	readonly round: number;
	readonly verdict: Verdict;
	readonly evidence: readonly RankEvidence[];
	readonly directory: string | undefined;
	/** No other node that stands still comes before this one. */
	readonly isFirst: boolean;
}

/**
 * What follows when a node's workers stand still: evidence of all nodes on disk, one verdict, and then what `--on-hang`
 * says. The node of the suspect acts; the others wait for that.
 */
export class HangInquiry {
	/** The standstill in which this node has left the action to another one. */
	private leftToOthers: number | undefined;

	constructor(private readonly options: HangInquiryOptions) {}

	/** Never rejects. Evidence holds up what follows until `--evidence-timeout` is over, whatever the store does. */
	async inquire(
		standstill: Standstill,
		node: RunningNode,
		stillRound: StillRound,
	): Promise<Finding> {
		const { clock, nodeId, log, steps, topics } = this.options;
		const { limitMs, stillMs } = standstill;
		const { round, seat } = node;
		const place = { clock, nodeId, round, instance: node.instance ?? 0 };
		const until = clock.now() + steps.evidenceMs;
		const { busyUntil, moving } = await othersNow(topics.progress, place, {
			stillSince: clock.wallTime() - stillMs,
			limitMs,
			withinMs: ANSWER_PART * steps.evidenceMs,
		});
		const busyMs = busyUntil - clock.wallTime() + limitMs;
		if (busyUntil > 0 && busyMs > 0) {
			const again = clock.now() + Math.min(busyMs, BUSY_LOOK_MS);
			return { again, hang: undefined };
		}
		const noticedAt = Math.round(clock.wallTime());
		const { own, directory } = await this.recordOwn(round, until);
		const others = (node.view?.round.seats ?? 1) - 1;
		const { evidence, isWhole } =
			others === 0
				? { evidence: own, isWhole: true }
				: await this.share(own, place, others - moving.length, until, limitMs);
		const isOver = stillRound.isOver();
		if (!isOver && stillRound.goesOn()) {
			const words = "a worker has made a step, or has said that it is busy";
			log.info(`round ${round} goes on: ${words}`);
			return { again: clock.now(), hang: undefined };
		}
		if (!isOver && moving.length > 0 && evidence.every(waitsForOthers)) {
			log.info(
				`round ${round}: the workers here make no step, because they wait for those of ${moving.join(", ")}, which do`,
			);
			return { again: clock.now() + limitMs, hang: undefined };
		}
		const verdict = hangVerdict(standstill, evidence, { nodeId, isWhole });
		recordVerdict(directory, verdict, { stillMs, noticedAt }, this.options);
		// The suspect's node was quicker; the verdict is the same.
		if (isOver) return { again: undefined, hang: undefined };
		const isFirst =
			moving.length === 0 ? seat.groupRank === 0 : firstOf(evidence) === nodeId;
		const found = { standstill, round, verdict, evidence, directory, isFirst };
		const again = this.act(found);
		if (again !== undefined) {
			log.info(
				`will look at the hang of round ${round} again in ${Math.round((again - clock.now()) / 1_000)} s`,
			);
		}
		const since = Math.round(clock.wallTime() - stillMs);
		const { kind, suspects } = verdict;
		return { again, hang: { kind, since, suspect: suspects[0] ?? null } };
	}

	private recordOwn(round: number, until: number) {
		const about = { round, name: "hang", until } as const;
		return recordEvidence(this.options.processes(), this.options, about);
	}

	private share(
		own: readonly RankEvidence[],
		place: PlaceInRound,
		others: number,
		until: number,
		limitMs: number,
	) {
		const { steps, topics } = this.options;
		const freshMs = Math.max(steps.evidenceMs, limitMs / 2);
		const about = { others, freshMs, until };
		return shareEvidence(own, topics.evidence, place, about);
	}

	/** When to judge again. */
	private act(found: Case): number | undefined {
		const { clock, steps, log } = this.options;
		const { standstill, verdict, evidence, directory } = found;
		const { stillMs, limitMs, slowMs } = standstill;
		const [suspect] = verdict.suspects;
		const about = { stillMs, suspect, directory };
		const words = describeHang(verdict, evidence, about);
		const who = suspect
			? `rank ${suspect.rank} on ${suspect.node}`
			: "the round";
		const said = `${who} ${words.description}; ${words.lines.join("; ")}`;
		if (verdict.kind === "slow" && stillMs < slowMs) {
			const waitMs = slowMs - stillMs;
			log.warn(
				`${said}; it gets ${Math.round(waitMs / 1_000)} s more, because it computes, reads or writes`,
			);
			return clock.now() + waitMs;
		}
		if (steps.onHang === "report") {
			log.warn(`${said}; no action is taken (--on-hang report)`);
			return undefined;
		}
		if (!this.isOurs(suspect, found)) {
			this.leftToOthers = standstill.since;
			log.warn(`${said}; ${suspect?.node ?? "the node of rank 0"} will end it`);
			return clock.now() + Math.max(ACTS_WITHIN_MS, limitMs);
		}
		const process = this.culprit(found);
		if (process === undefined) return undefined;
		const isUnattributed = suspect?.rank !== process.rank;
		const { description, lines } =
			suspect && isUnattributed
				? asStandIn(words, suspect, verdict, stillMs)
				: words;
		this.options.onHung(process, {
			round: found.round,
			description,
			evidence: [...this.raisedIn(process), ...lines].slice(0, MOST_LINES),
			stillMs,
			isUnattributed,
			failsRun: steps.onHang === "fail",
			cause: causeOf(standstill, verdict),
			step: evidence.find(({ rank }) => rank === process.rank)?.step,
		});
		return undefined;
	}

	/** A thread that has died may be why nothing goes on. */
	private raisedIn({ directory }: NodeProcess): readonly string[] {
		const raised = readException(hookPaths(channelPaths(directory).hook));
		return raised === undefined ? [] : [raisedWords(raised, this.options.cwd)];
	}

	/** Whether this node acts: the suspect is here, there is none and this is the first node, or nobody else has acted. */
	private isOurs(suspect: Suspect | undefined, { standstill, isFirst }: Case) {
		if (this.leftToOthers === standstill.since) return true;
		return suspect === undefined
			? isFirst
			: suspect.node === this.options.nodeId;
	}

	/** The suspect's process; if the suspect is elsewhere or unknown, this node's first one that has not ended. */
	private culprit({ verdict, evidence }: Case): NodeProcess | undefined {
		const processes = this.options.processes();
		const [suspect] = verdict.suspects;
		const isGone = ({ rank }: NodeProcess) =>
			evidence.some((one) => one.rank === rank && one.activity === "gone");
		return (
			processes.find(({ rank }) => rank === suspect?.rank) ??
			processes.find((process) => !isGone(process)) ??
			processes[0]
		);
	}
}
