import { formatDuration } from "../base/units.js";
import type { NodeSpeeds } from "../rendezvous/records/preflight-record.js";

/** What the built-in preflight has measured. */
export interface NodeMeasures {
	readonly speeds: NodeSpeeds;
	/** Free bytes by directory; null: unknown. */
	readonly free: readonly {
		readonly directory: string;
		readonly bytes: number | null;
	}[];
	/** How far this clock is ahead of etcd's, in milliseconds, within `uncertainMs`; undefined: unknown. */
	readonly clock?: { readonly aheadMs: number; readonly uncertainMs: number };
	/** The nodes that did not answer at their address. */
	readonly unreachable: readonly {
		readonly nodeId: string;
		readonly address: string;
		readonly problem: string;
	}[];
}

/** A node slower than this part of the usual speed is slow. */
const SLOW_PART = 0.5;
/** With fewer others nobody knows which of them is usual. */
const LEAST_OTHERS = 2;
const LEAST_FREE_BYTES = 1 << 30;
const MOST_AHEAD_MS = 2_000;

/** What is wrong with this node, one line each; `others`: the speeds of the run's other nodes. */
export function judgeNode(
	{ speeds, free, clock, unreachable }: NodeMeasures,
	others: readonly NodeSpeeds[],
): readonly string[] {
	return [
		...slowness("processor", speeds, others),
		...slowness("memory", speeds, others),
		...slowness("disk", speeds, others),
		...free.flatMap(({ directory, bytes }) =>
			bytes !== null && bytes < LEAST_FREE_BYTES
				? [
						`${directory} has ${toMegabytes(bytes)} MB free; 1024 MB are the least`,
					]
				: [],
		),
		...clockFinding(clock),
		...unreachable.map(
			({ nodeId, address, problem }) =>
				`${nodeId} does not answer at ${address}: ${problem}`,
		),
	];
}

function slowness(
	what: keyof NodeSpeeds,
	own: NodeSpeeds,
	others: readonly NodeSpeeds[],
): readonly string[] {
	const known = others.flatMap((speeds) => speeds[what] ?? []);
	if (known.length < LEAST_OTHERS) return [];
	const usual = median(known);
	const speed = own[what];
	if (speed === null) return [`the ${what} was too slow to be measured`];
	if (speed >= usual * SLOW_PART) return [];
	return [
		`the ${what} is slow: ${Math.round(speed)} MB/s, where the median of ${known.length} other nodes is ${Math.round(usual)} MB/s`,
	];
}

function median(values: readonly number[]): number {
	const sorted = [...values].sort((left, right) => left - right);
	const middle = sorted.length / 2;
	const upper = sorted[Math.floor(middle)] ?? 0;
	const lower = sorted[Math.ceil(middle) - 1] ?? 0;
	return (lower + upper) / 2;
}

function clockFinding(clock: NodeMeasures["clock"]): readonly string[] {
	if (clock === undefined) return [];
	const { aheadMs, uncertainMs } = clock;
	if (Math.abs(aheadMs) - uncertainMs <= MOST_AHEAD_MS) return [];
	const way = aheadMs > 0 ? "ahead of" : "behind";
	return [`the clock is ${formatDuration(Math.abs(aheadMs))} ${way} etcd's`];
}

function toMegabytes(bytes: number): number {
	return Math.floor(bytes / (1 << 20));
}
