import type { RendezvousConfig } from "./agent-config.js";
import type { RendezvousSettings } from "./parse/rendezvous.js";
import { durationInWords } from "./parse/scalars.js";

const JOIN_TIMEOUT_MS = 600_000;
const LAST_CALL_TIMEOUT_MS = 30_000;
const LEAST_LAST_CALL_MS = 1_000;
const LEASE_TTL_MS = 5_000;

/** How long a node needs after its shutdown time-out to be ready again. */
const SETTLE_MARGIN_MS = 5_000;

/** The least addition to that: a node hears of the round's end later than the coordinator starts counting. */
const LEAST_SETTLE_MARGIN_MS = 1_000;

/** An etcd cluster needs two to three seconds to replace its leader. */
const SAFE_LEASE_TTL_MS = 3_000;

/** Fills in defaults. */
export function completeRendezvous(
	given: RendezvousSettings,
	context: { readonly shutdownTimeoutMs: number; readonly maxNodes: number },
): RendezvousConfig {
	const leaseTtlMs = given.leaseTtlMs ?? LEASE_TTL_MS;
	const endedMs = context.shutdownTimeoutMs + SETTLE_MARGIN_MS;
	// A node that is cut off works for as long as its lease may live.
	const settleTimeoutMs =
		given.settleTimeoutMs ?? Math.max(endedMs, leaseTtlMs);
	const lastCallTimeoutMs =
		given.lastCallTimeoutMs ??
		lastCallWithin(settleTimeoutMs, given.joinTimeoutMs);
	const leastMs = settleTimeoutMs + lastCallTimeoutMs + 1;
	const usualMs = given.timeoutMs ?? JOIN_TIMEOUT_MS;
	const isFitted = context.maxNodes === 1 || given.timeoutMs !== undefined;
	const joinTimeoutMs =
		given.joinTimeoutMs ?? (isFitted ? Math.max(usualMs, leastMs) : usualMs);
	return {
		joinTimeoutMs,
		lastCallTimeoutMs,
		settleTimeoutMs,
		leaseTtlMs,
	};
}

/** A join time-out as short as torchrun allows shortens the last call, unless that is set. */
function lastCallWithin(
	settleTimeoutMs: number,
	joinTimeoutMs = Number.POSITIVE_INFINITY,
): number {
	const roomMs = joinTimeoutMs - settleTimeoutMs - 1;
	return roomMs < LEAST_LAST_CALL_MS
		? LAST_CALL_TIMEOUT_MS
		: Math.min(LAST_CALL_TIMEOUT_MS, roomMs);
}

/** The problem with the order of the time-outs; undefined if they are right. */
export function timeOutProblem(config: RendezvousConfig): string | undefined {
	const { joinTimeoutMs, settleTimeoutMs, lastCallTimeoutMs } = config;
	if (joinTimeoutMs > settleTimeoutMs + lastCallTimeoutMs) return undefined;
	const words = {
		join: durationInWords(joinTimeoutMs),
		settle: durationInWords(settleTimeoutMs),
		lastCall: durationInWords(lastCallTimeoutMs),
	};
	return `join_timeout (${words.join}) must be longer than settle_timeout (${words.settle}; shutdown-timeout + 5s, at least lease_ttl, unless set) and last_call_timeout (${words.lastCall}) together; use --rdzv-conf join_timeout=N with a larger N`;
}

/** Warnings of times that are allowed but seldom intended. */
export function timeOutWarnings(
	config: RendezvousConfig,
	shutdownTimeoutMs: number,
): readonly string[] {
	const warnings = [
		leaseWarning(config),
		settleWarning(config, shutdownTimeoutMs),
		cutOffWarning(config),
	];
	return warnings.filter((warning) => warning !== undefined);
}

/** Warns of a settle time that ends before a node may have ended its workers. */
function settleWarning(
	{ settleTimeoutMs }: RendezvousConfig,
	shutdownTimeoutMs: number,
): string | undefined {
	if (settleTimeoutMs >= shutdownTimeoutMs + LEAST_SETTLE_MARGIN_MS) {
		return undefined;
	}
	return `settle_timeout (${durationInWords(settleTimeoutMs)}) is not longer than --shutdown-timeout (${durationInWords(shutdownTimeoutMs)}) by ${durationInWords(LEAST_SETTLE_MARGIN_MS)}: the others continue without a node whose workers need longer to end; it comes back as a new node, and ends their round again; leave it unset`;
}

/** Warns of a settle time after which a node that is cut off may still work. */
function cutOffWarning(config: RendezvousConfig): string | undefined {
	const { settleTimeoutMs, leaseTtlMs } = config;
	if (settleTimeoutMs >= leaseTtlMs) return undefined;
	return `settle_timeout (${durationInWords(settleTimeoutMs)}) is shorter than lease_ttl (${durationInWords(leaseTtlMs)}): the others may start while a node that is cut off still works; leave it unset`;
}

/** Warns of a lease shorter than an ordinary failover of etcd. */
function leaseWarning(config: RendezvousConfig): string | undefined {
	if (config.leaseTtlMs >= SAFE_LEASE_TTL_MS) return undefined;
	return `lease_ttl (${durationInWords(config.leaseTtlMs)}) is shorter than 3s: every change of etcd's leader will cost a round`;
}
