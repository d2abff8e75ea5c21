import type { RendezvousConfig } from "./agent-config.js";
import type { RendezvousSettings } from "./parse/rendezvous-conf.js";
import { durationInWords } from "./parse/scalars.js";

const JOIN_TIMEOUT_MS = 600_000;
const LAST_CALL_TIMEOUT_MS = 30_000;
const LEASE_TTL_MS = 5_000;

/** What a node needs after its shutdown time-out to be ready again. */
const SETTLE_MARGIN_MS = 5_000;

/** And what it needs at least, beyond that: it hears later of the round's end than who counts its time. */
const LEAST_SETTLE_MARGIN_MS = 1_000;

/** An etcd cluster needs two to three seconds to replace its leader. */
const SAFE_LEASE_TTL_MS = 3_000;

/** Fills in what was not given. */
export function completeRendezvous(
	given: RendezvousSettings,
	context: { readonly shutdownTimeoutMs: number; readonly maxNodes: number },
): RendezvousConfig {
	const lastCallTimeoutMs = given.lastCallTimeoutMs ?? LAST_CALL_TIMEOUT_MS;
	const settleTimeoutMs =
		given.settleTimeoutMs ?? context.shutdownTimeoutMs + SETTLE_MARGIN_MS;
	const joinTimeoutMs =
		given.joinTimeoutMs ??
		(context.maxNodes === 1
			? Math.max(JOIN_TIMEOUT_MS, settleTimeoutMs + lastCallTimeoutMs + 1)
			: JOIN_TIMEOUT_MS);
	return {
		joinTimeoutMs,
		lastCallTimeoutMs,
		settleTimeoutMs,
		leaseTtlMs: given.leaseTtlMs ?? LEASE_TTL_MS,
	};
}

/** What is wrong with the order of the time-outs; undefined where it is right. */
export function timeOutProblem(config: RendezvousConfig): string | undefined {
	const { joinTimeoutMs, settleTimeoutMs, lastCallTimeoutMs } = config;
	if (joinTimeoutMs > settleTimeoutMs + lastCallTimeoutMs) return undefined;
	const words = {
		join: durationInWords(joinTimeoutMs),
		settle: durationInWords(settleTimeoutMs),
		lastCall: durationInWords(lastCallTimeoutMs),
	};
	return `join_timeout (${words.join}) must be longer than settle_timeout (${words.settle}; shutdown-timeout + 5s unless set) and last_call_timeout (${words.lastCall}) together; use --rdzv-conf join_timeout=N with a larger N`;
}

/** Warnings of times that are allowed, and seldom meant. */
export function timeOutWarnings(
	config: RendezvousConfig,
	shutdownTimeoutMs: number,
): readonly string[] {
	const warnings = [
		leaseWarning(config),
		settleWarning(config, shutdownTimeoutMs),
	];
	return warnings.filter((warning) => warning !== undefined);
}

/** Of a settle time in which a node may not have ended its workers. */
function settleWarning(
	{ settleTimeoutMs }: RendezvousConfig,
	shutdownTimeoutMs: number,
): string | undefined {
	if (settleTimeoutMs >= shutdownTimeoutMs + LEAST_SETTLE_MARGIN_MS) {
		return undefined;
	}
	return `settle_timeout (${durationInWords(settleTimeoutMs)}) is not longer than --shutdown-timeout (${durationInWords(shutdownTimeoutMs)}) by ${durationInWords(LEAST_SETTLE_MARGIN_MS)}: the others go on without a node whose workers need longer to end, and it comes back as a new one, which ends their round again; leave it unset`;
}

/** Of a lease that an ordinary failover of etcd outlasts. */
function leaseWarning(config: RendezvousConfig): string | undefined {
	if (config.leaseTtlMs >= SAFE_LEASE_TTL_MS) return undefined;
	return `lease_ttl (${durationInWords(config.leaseTtlMs)}) is shorter than 3s: every change of etcd's leader will cost a round`;
}
