import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { AgentConfig } from "../../config/agent-config.js";
import { blame } from "../../evidence/blame.js";
import { describeHang } from "../../evidence/describe-hang.js";
import type {
	RankEvidence,
	Suspect,
	Verdict,
} from "../../evidence/evidence.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import type {
	Hang,
	WorkerProgress,
} from "../../rendezvous/records/progress-record.js";
import type { Store } from "../../rendezvous/store/store.js";
import type { AgentInput } from "../machine/inputs.js";
import type { Running } from "../machine/state.js";
import type { WorkerProcess } from "../workers/worker-member.js";
import { recordEvidence, recordVerdict } from "./record-evidence.js";
import { shareEvidence } from "./share-evidence.js";
import type { Still } from "./step-watch-options.js";

/** A slow worker is given so many times the limit. */
const SLOW_FACTOR = 3;
/** Lines of evidence in a report. */
const MOST_LINES = 5;
/** How long another node may take to act on what all agree on, in milliseconds, before this one does. */
const ACTS_WITHIN_MS = 10_000;

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
}

/** What was found out about a node that stands still. */
export interface Inquired {
	readonly hang: Hang;
	/** When to judge again, on the clock; undefined: only after a step. */
	readonly again: number | undefined;
}

/**
 * What follows when a node's workers stand still: evidence of all nodes on disk, one verdict, and then what `--on-hang`
 * says. The node of the suspect acts; the others wait for that.
 */
export class HangInquiry {
	/** The round in which this node has left the action to another one. */
	private leftToOthers: number | undefined;

	constructor(private readonly options: HangInquiryOptions) {}

	/** Never rejects. */
	async inquire(
		still: Still,
		state: Running,
		progress: readonly WorkerProgress[],
	): Promise<Inquired> {
		const { clock, config, log } = this.options;
		const until = clock.now() + config.steps.evidenceMs;
		const { own, directory } = await recordEvidence(progress, {
			...{ ...this.options, round: state.round, until },
		});
		const evidence = await this.share(own, state, until);
		const verdict = verdictOf(still, evidence, config.nodeId);
		recordVerdict(directory, verdict, still.stillMs, log);
		const finding = { still, state, verdict, evidence, directory };
		const again = this.act(finding);
		if (again !== undefined) {
			log.info(
				`looks at the hang of round ${state.round} again in ${Math.round((again - clock.now()) / 1_000)} s`,
			);
		}
		const since = Math.round(clock.wallTime() - still.stillMs);
		const { kind, suspects } = verdict;
		return { again, hang: { kind, since, suspect: suspects[0] ?? null } };
	}

	private act(finding: Finding): number | undefined {
		const { clock, config, log } = this.options;
		const { still, state, verdict, evidence, directory } = finding;
		const { stillMs, limitMs } = still;
		const [suspect] = verdict.suspects;
		const about = { stillMs, suspect, directory };
		const { description, lines } = describeHang(verdict, evidence, about);
		const who = suspect
			? `rank ${suspect.rank} on ${suspect.node}`
			: "the round";
		const said = `${who} ${description}; ${lines.join("; ")}`;
		if (verdict.kind === "slow" && stillMs < SLOW_FACTOR * limitMs) {
			const waitMs = SLOW_FACTOR * limitMs - stillMs;
			log.warn(
				`${said}; it is given ${Math.round(waitMs / 1_000)} s more, because it works`,
			);
			return clock.now() + waitMs;
		}
		if (config.steps.onHang === "report") {
			log.warn(`${said}; nothing follows (--on-hang report)`);
			return undefined;
		}
		const isOwn = this.isOurs(suspect, state);
		if (!isOwn) {
			this.leftToOthers = state.round;
			log.warn(`${said}; ${suspect?.node ?? "the node of rank 0"} acts on it`);
			return clock.now() + Math.max(ACTS_WITHIN_MS, limitMs);
		}
		const process = this.culprit(suspect);
		if (process === undefined) return undefined;
		const isOther = suspect !== undefined && suspect.rank !== process.rank;
		const silent = isOther
			? [`${suspect.node} did not act on its rank ${suspect.rank}`]
			: [];
		this.options.dispatch({
			kind: "worker-hung",
			localRank: process.localRank,
			pid: process.pid,
			description,
			evidence: [...silent, ...lines].slice(0, MOST_LINES),
			stillMs,
			failsRun: config.steps.onHang === "fail",
			isSlow: verdict.kind === "slow",
		});
		return undefined;
	}

	/** Whether this node acts: the suspect is here, there is none and this is the first node, or nobody else has acted. */
	private isOurs(suspect: Suspect | undefined, { round, seat }: Running) {
		if (this.leftToOthers === round) return true;
		return suspect === undefined
			? seat.groupRank === 0
			: suspect.node === this.options.config.nodeId;
	}

	/** The suspect's process, or this node's first one if the suspect is elsewhere or unknown. */
	private culprit(suspect: Suspect | undefined): WorkerProcess | undefined {
		const processes = this.options.processes();
		const accused = processes.find(({ rank }) => rank === suspect?.rank);
		return accused ?? processes[0];
	}

	private async share(
		own: readonly RankEvidence[],
		{ round, view, instance }: Running,
		until: number,
	): Promise<readonly RankEvidence[]> {
		const { clock, config, store, write } = this.options;
		const keys = new RunKeys(config.runId);
		const { nodeId } = config;
		return shareEvidence(own, {
			...{ clock, store, keys, nodeId, write, round, until },
			instance: instance ?? 0,
			seats: view?.round.seats ?? 1,
		});
	}
}

/** Where a worker has not made its first step, it is the suspect: others may wait for it in vain. */
function verdictOf(
	still: Still,
	evidence: readonly RankEvidence[],
	nodeId: string,
): Verdict {
	const verdict = blame(evidence);
	if (still.kind === "still" || verdict.suspects.length > 0) return verdict;
	const one = evidence.find(
		({ nodeId: node, localRank }) =>
			node === nodeId && localRank === still.localRank,
	);
	if (one === undefined) return verdict;
	const { rank, nodeId: node, where = null } = one;
	const why = "it has not made its first step";
	return {
		...verdict,
		suspects: [{ rank, node, why, where }],
		waiting: verdict.waiting.filter((other) => other !== rank),
	};
}
