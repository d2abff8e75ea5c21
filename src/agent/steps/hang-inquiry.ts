import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import { channelPaths, hookPaths } from "../../channel/layout.js";
import type { AgentConfig } from "../../config/agent-config.js";
import { asStandIn, describeHang } from "../../evidence/describe-hang.js";
import type { Verdict } from "../../evidence/evidence.js";
import { raisedWords, readException } from "../../evidence/exception.js";
import { waitsForOthers } from "../../evidence/waits.js";
import type { RankEvidence } from "../../model/evidence.js";
import type { Suspect } from "../../model/hang.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import type { WorkerProgress } from "../../rendezvous/records/progress-record.js";
import type { Store } from "../../rendezvous/store/store.js";
import type { AgentInput } from "../machine/inputs.js";
import type { Running } from "../machine/state.js";
import type { WorkerProcess } from "../workers/worker-process.js";
import { causeOf, firstOf, hangVerdict } from "./hang-verdict.js";
import { hungWorker } from "./hung-worker.js";
import { othersNow } from "./others-now.js";
import { recordEvidence, recordVerdict } from "./record-evidence.js";
import { shareEvidence } from "./share-evidence.js";
import type { Inquired, Still } from "./step-watch-options.js";

/** A slow worker is given so many times the limit. */
const SLOW_FACTOR = 3;
/** Lines of evidence in a report. */
const MOST_LINES = 5;
/** How long another node may take to act on what all agree on, in milliseconds, before this one does. */
const ACTS_WITHIN_MS = 10_000;

/** How often a node that waits for a busy one looks whether it still is, in milliseconds. */
const BUSY_LOOK_MS = 5_000;

export interface HangInquiryOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "warn">;
	readonly config: Pick<AgentConfig, "runId" | "nodeId" | "steps"> & {
		readonly command: Pick<AgentConfig["command"], "cwd">;
	};
	/** This node's log directory. */
	readonly logDirectory: string;
	readonly store: Pick<Store, "snapshot">;
	/** Writes under this agent's lease. */
	readonly write: (key: string, value: string) => Promise<void>;
	readonly processes: () => readonly WorkerProcess[];
	readonly dispatch: (input: AgentInput) => void;
}

/** A hang with all that is known of it. */
interface Finding {
	readonly still: Still;
	readonly state: Running;
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
		still: Still,
		state: Running,
		progress: readonly WorkerProgress[],
		news: () => "moved" | "over" | undefined,
	): Promise<Inquired> {
		const { clock, config, log } = this.options;
		const { nodeId, steps } = config;
		const place = this.placeOf(state);
		const { limitMs, stillMs } = still;
		const stillSince = clock.wallTime() - stillMs;
		const until = clock.now() + steps.evidenceMs;
		const asked = { clock, nodeId, stillSince, limitMs, ...steps };
		const { busyUntil, moving } = await othersNow({ ...place, ...asked });
		const busyMs = busyUntil - clock.wallTime() + limitMs;
		if (busyUntil > 0 && busyMs > 0) {
			const again = clock.now() + Math.min(busyMs, BUSY_LOOK_MS);
			return { again, hang: undefined };
		}
		const noticedAt = Math.round(clock.wallTime());
		const { own, directory } = await recordEvidence(progress, {
			...{ ...this.options, round: state.round, until, name: "hang" },
		});
		const freshMs = Math.max(steps.evidenceMs, limitMs / 2);
		const { evidence, isWhole } = await shareEvidence(own, {
			...{ ...this.options, ...place, nodeId, until, freshMs, moving },
			seats: state.view?.round.seats ?? 1,
		});
		const change = news();
		if (change === "moved") {
			const words = "a worker has made a step, or has said that it is busy";
			log.info(`round ${state.round} goes on: ${words}`);
			return { again: clock.now(), hang: undefined };
		}
		const mayWait = change === undefined && moving.length > 0;
		if (mayWait && evidence.every(waitsForOthers)) {
			log.info(
				`round ${state.round}: the workers here make no step, because they wait for those of ${moving.join(", ")}, which do`,
			);
			return { again: clock.now() + limitMs, hang: undefined };
		}
		const verdict = hangVerdict(still, evidence, { nodeId, isWhole });
		recordVerdict(directory, verdict, { stillMs, noticedAt }, log);
		// The suspect's node was quicker; the verdict is the same.
		if (change === "over") return { again: undefined, hang: undefined };
		const isFirst =
			moving.length === 0
				? state.seat.groupRank === 0
				: firstOf(evidence) === nodeId;
		const finding = { still, state, verdict, evidence, directory, isFirst };
		const again = this.act(finding);
		if (again !== undefined) {
			log.info(
				`will look at the hang of round ${state.round} again in ${Math.round((again - clock.now()) / 1_000)} s`,
			);
		}
		const since = Math.round(clock.wallTime() - stillMs);
		const { kind, suspects } = verdict;
		return { again, hang: { kind, since, suspect: suspects[0] ?? null } };
	}

	private act(finding: Finding): number | undefined {
		const { clock, config, log } = this.options;
		const { still, state, verdict, evidence, directory } = finding;
		const { stillMs, limitMs } = still;
		const [suspect] = verdict.suspects;
		const about = { stillMs, suspect, directory };
		const words = describeHang(verdict, evidence, about);
		const who = suspect
			? `rank ${suspect.rank} on ${suspect.node}`
			: "the round";
		const said = `${who} ${words.description}; ${words.lines.join("; ")}`;
		if (verdict.kind === "slow" && stillMs < SLOW_FACTOR * limitMs) {
			const waitMs = SLOW_FACTOR * limitMs - stillMs;
			log.warn(
				`${said}; it gets ${Math.round(waitMs / 1_000)} s more, because it computes, reads or writes`,
			);
			return clock.now() + waitMs;
		}
		if (config.steps.onHang === "report") {
			log.warn(`${said}; no action is taken (--on-hang report)`);
			return undefined;
		}
		if (!this.isOurs(suspect, finding)) {
			this.leftToOthers = still.since;
			log.warn(`${said}; ${suspect?.node ?? "the node of rank 0"} will end it`);
			return clock.now() + Math.max(ACTS_WITHIN_MS, limitMs);
		}
		const process = this.culprit(finding);
		if (process === undefined) return undefined;
		const isUnattributed = suspect?.rank !== process.rank;
		const { description, lines } =
			suspect && isUnattributed
				? asStandIn(words, suspect, verdict, stillMs)
				: words;
		this.options.dispatch({
			kind: "worker-hung",
			round: state.round,
			...hungWorker(process, clock.now()),
			description,
			evidence: [...this.raisedIn(process), ...lines].slice(0, MOST_LINES),
			...{ stillMs, isUnattributed },
			failsRun: config.steps.onHang === "fail",
			cause: causeOf(still, verdict),
			step: evidence.find(({ rank }) => rank === process.rank)?.step,
		});
		return undefined;
	}

	/** A thread that has died may be why nothing goes on. */
	private raisedIn({ directory }: WorkerProcess): readonly string[] {
		const { cwd } = this.options.config.command;
		const raised = readException(hookPaths(channelPaths(directory).hook));
		return raised === undefined ? [] : [raisedWords(raised, cwd)];
	}

	/** Whether this node acts: the suspect is here, there is none and this is the first node, or nobody else has acted. */
	private isOurs(suspect: Suspect | undefined, { still, isFirst }: Finding) {
		if (this.leftToOthers === still.since) return true;
		return suspect === undefined
			? isFirst
			: suspect.node === this.options.config.nodeId;
	}

	/** The suspect's process; if the suspect is elsewhere or unknown, this node's first one that has not ended. */
	private culprit({ verdict, evidence }: Finding): WorkerProcess | undefined {
		const processes = this.options.processes();
		const [suspect] = verdict.suspects;
		const isGone = ({ rank }: WorkerProcess) =>
			evidence.some((one) => one.rank === rank && one.activity === "gone");
		return (
			processes.find(({ rank }) => rank === suspect?.rank) ??
			processes.find((process) => !isGone(process)) ??
			processes[0]
		);
	}

	private placeOf({ round, instance }: Running) {
		const { config, store } = this.options;
		const keys = new RunKeys(config.runId);
		return { store, keys, round, instance: instance ?? 0 };
	}
}
