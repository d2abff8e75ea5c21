import {
	addSpent,
	lostOf,
	NOTHING_SPENT,
	type Spent,
	spentBy,
	totalSpent,
} from "./categories.js";
import {
	adviseCheckpoints,
	type CheckpointAdvice,
	failureRateOf,
	type Recoveries,
	recoveriesOf,
} from "./failures.js";
import { nodeLedger } from "./node-ledger.js";
import type { RunAccounts } from "./read-ledger.js";

/**
 * The content of `elastic-run goodput` and its JSON, documented in docs/status.md: the newest start of a run. Times are
 * milliseconds since 1970, null if unknown.
 */
export interface Goodput {
	readonly version: 1;
	readonly runId: string;
	readonly instance: number;
	readonly begunAt: number;
	/** Null while it runs. */
	readonly endedAt: number | null;
	readonly elapsedSeconds: number;
	/** All nodes together; the sum of `ledger`. */
	readonly nodeSeconds: number;
	/** Node-seconds by category. */
	readonly ledger: Spent;
	/** Productive time as a fraction of all, from 0 to 1; null if no new step is known. */
	readonly goodput: number | null;
	/** The effective training time ratio: with time that was neither lost to starts, failures and idleness. */
	readonly ettr: number | null;
	readonly recoveries: Recoveries;
	readonly checkpoints: CheckpointAdvice;
	readonly nodes: readonly NodeGoodput[];
}

export interface NodeGoodput {
	readonly nodeId: string;
	readonly from: number;
	readonly to: number;
	readonly ledger: Spent;
}

/** Each node's time, and all of it in seconds. */
export function describeGoodput(run: RunAccounts): Goodput {
	const nodes = run.accounts.map((account) => {
		const { nodeId, from, to } = account;
		return { nodeId, from, to, ledger: inSeconds(nodeLedger(account, run)) };
	});
	const ledger = nodes.reduce(
		(sum, node) => addSpent(sum, node.ledger),
		NOTHING_SPENT,
	);
	const nodeSeconds = totalSpent(ledger);
	const { runId, instance, begunAt, endedAt } = run;
	const elapsedSeconds = Math.max(0, run.until - begunAt) / 1_000;
	const { productive, saving, straggler, unknown } = ledger;
	// What nobody knows is not said to be lost.
	const isKnown = nodeSeconds > 0 && (productive > 0 || unknown === 0);
	const ratio = (seconds: number) => (isKnown ? seconds / nodeSeconds : null);
	const recoveries = recoveriesOf(run, elapsedSeconds);
	return {
		...{ version: 1, runId, instance, begunAt, endedAt },
		...{ elapsedSeconds, nodeSeconds, ledger },
		goodput: ratio(productive),
		ettr: ratio(productive + saving + straggler),
		recoveries,
		checkpoints: adviseCheckpoints(run, failureRateOf(run.starts, run.until)),
		nodes,
	};
}

function inSeconds(spent: Spent): Spent {
	return spentBy((category) => spent[category] / 1_000);
}

/** What a run's time cost, in the currency of the price. */
export interface Cost {
	readonly perNodeHour: number;
	readonly total: number;
	/** What is known not to have been productive. */
	readonly lost: number;
	readonly byCategory: Spent;
}

const SECONDS_AN_HOUR = 3_600;

export function costOf(
	{ ledger, nodeSeconds }: Pick<Goodput, "ledger" | "nodeSeconds">,
	perNodeHour: number,
): Cost {
	const costOfTime = (seconds: number) =>
		(seconds / SECONDS_AN_HOUR) * perNodeHour;
	const total = costOfTime(nodeSeconds);
	return {
		...{ perNodeHour, total },
		lost: costOfTime(lostOf(ledger)),
		byCategory: spentBy((category) => costOfTime(ledger[category])),
	};
}
