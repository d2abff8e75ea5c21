import { formatRanks } from "../base/units.js";
import type { StepsConfig } from "../config/index.js";
import {
	ANNOUNCE_PHASE,
	raisedWords,
	readException,
	type Trace,
} from "../failures/index.js";
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
import { blameAlone } from "./blame.js";
import type { WatchedNode } from "./evidence.js";
import { recordEvidence, recordVerdict } from "./evidence-files.js";
import { hookPathsOf } from "./hook.js";
import {
	othersJoin,
	othersNow,
	type PlaceInRound,
	shareEvidence,
} from "./others.js";
import type { Standstill } from "./standstill.js";
import {
	asStandIn,
	causeOf,
	describeHang,
	firstOf,
	hangVerdict,
	slowFor,
} from "./verdict.js";

const USUAL_HINT =
	"workers that use torch.distributed have 30 min to their first step (--start-timeout auto); one that makes none on purpose says so by report_progress(busy=…), or is given --start-timeout 0";
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
	readonly step: number | undefined;
	/** What was found out, in at most five lines. */
	readonly evidence?: readonly string[];
	/** It only stands for its round. */
	readonly isUnattributed?: boolean;
	readonly hint?: string | undefined;
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
	/** What the kernel has killed for lack of memory since the round began, in words. */
	killed(): string | undefined;
}

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
	/** See `StillRound`. */
	readonly killed: string | undefined;
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
		if (standstill.alone !== undefined) {
			return this.inquireAlone(standstill, node, stillRound);
		}
		const { clock, nodeId, log, steps, topics } = this.options;
		const { limitMs, stillMs, start } = standstill;
		const { round, seat } = node;
		const place = { clock, nodeId, round, instance: node.instance ?? 0 };
		const seats = node.view?.round.seats ?? 1;
		if (start?.isUnsure && !(await this.areMissed(place, seats))) {
			return { again: clock.now() + limitMs, hang: undefined };
		}
		const until = clock.now() + steps.evidenceMs;
		const others = await othersNow(topics.progress, place, {
			stillSince: clock.wallTime() - stillMs,
			limitMs,
			withinMs: ANSWER_PART * steps.evidenceMs,
		});
		const { busyUntil, moving } = others;
		// Often only the first rank tells its steps.
		if (start?.isUncounted && others.haveStepped) {
			return { again: clock.now() + limitMs, hang: undefined };
		}
		const busyMs = busyUntil - clock.wallTime() + limitMs;
		if (busyUntil > 0 && busyMs > 0) {
			const again = clock.now() + Math.min(busyMs, BUSY_LOOK_MS);
			return { again, hang: undefined };
		}
		const noticedAt = Math.round(clock.wallTime());
		const { own, directory } = await this.recordOwn(round, until);
		const still = seats - 1 - moving.length;
		const { evidence, isWhole } =
			seats === 1
				? { evidence: own, isWhole: true }
				: await this.share(own, place, still, until, limitMs);
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
		const about = { evidence, directory, killed: stillRound.killed() };
		return this.conclude({ standstill, round, verdict, isFirst, ...about });
	}

	/** Whether other nodes wait for the workers here in a process group. */
	private areMissed(place: PlaceInRound, seats: number): Promise<boolean> {
		const { clock, steps, topics } = this.options;
		const until = clock.now() + (seats === 1 ? 0 : steps.evidenceMs);
		return othersJoin(topics.evidence, place, until);
	}

	/** Others of this node make steps: these are judged by what they do themselves. */
	private async inquireAlone(
		standstill: Standstill,
		{ round }: RunningNode,
		stillRound: StillRound,
	): Promise<Finding> {
		const { clock, steps, log } = this.options;
		const { stillMs, limitMs, alone } = standstill;
		const until = clock.now() + steps.evidenceMs;
		const noticedAt = Math.round(clock.wallTime());
		const recorded = await this.recordOwn(round, until, alone);
		const { own: evidence, directory } = recorded;
		if (stillRound.isOver()) return { again: undefined, hang: undefined };
		if (stillRound.goesOn()) return { again: clock.now(), hang: undefined };
		const verdict = blameAlone(evidence);
		if (verdict === undefined) {
			const ranks = formatRanks(evidence.map(({ rank }) => rank));
			log.info(
				`round ${round}: no step of rank ${ranks}, which waits for others that make steps`,
			);
			return { again: clock.now() + limitMs, hang: undefined };
		}
		recordVerdict(directory, verdict, { stillMs, noticedAt }, this.options);
		const killed = stillRound.killed();
		const about = { evidence, directory, isFirst: true, killed };
		return this.conclude({ standstill, round, verdict, ...about });
	}

	private conclude(found: Case): Finding {
		const { clock, log } = this.options;
		const { round, standstill, verdict } = found;
		const again = this.act(found);
		if (again !== undefined) {
			log.info(
				`will look at the hang of round ${round} again in ${Math.round((again - clock.now()) / 1_000)} s`,
			);
		}
		const since = Math.round(clock.wallTime() - standstill.stillMs);
		const { kind, suspects } = verdict;
		return { again, hang: { kind, since, suspect: suspects[0] ?? null } };
	}

	/** @param alone only these, by local rank */
	private recordOwn(round: number, until: number, alone?: readonly number[]) {
		const about = { round, name: "hang", until } as const;
		const processes = this.options
			.processes()
			.filter(({ localRank }) => alone?.includes(localRank) ?? true);
		return recordEvidence(processes, this.options, about);
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
		const { stillMs, limitMs, start } = standstill;
		const [suspect] = verdict.suspects;
		const about = { stillMs, suspect, directory };
		const hang = describeHang(verdict, evidence, about);
		const lines = [...(found.killed ? [found.killed] : []), ...hang.lines];
		const words = { ...hang, lines };
		const who = suspect
			? `rank ${suspect.rank} on ${suspect.node}`
			: "the round";
		const said = `${who} ${words.description}; ${words.lines.join("; ")}`;
		const waitMs = verdict.kind === "slow" ? slowFor(standstill) : 0;
		if (waitMs > 0) {
			log.warn(
				`${said}; it gets ${Math.round(waitMs / 1_000)} s more, because it computes, reads or writes: ${ANNOUNCE_PHASE}`,
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
		const told =
			suspect && isUnattributed
				? asStandIn(words, suspect, verdict, stillMs)
				: words;
		this.options.onHung(process, {
			round: found.round,
			description: told.description,
			evidence: [...this.raisedIn(process), ...told.lines].slice(0, MOST_LINES),
			stillMs,
			isUnattributed,
			failsRun: steps.onHang === "fail",
			hint: start?.isUsual ? USUAL_HINT : undefined,
			cause: causeOf(standstill, verdict),
			step: evidence.find(({ rank }) => rank === process.rank)?.step,
		});
		return undefined;
	}

	/** A thread that has died may be why nothing goes on. */
	private raisedIn(process: NodeProcess): readonly string[] {
		const raised = readException(hookPathsOf(process));
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
