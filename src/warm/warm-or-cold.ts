import type { ColdKind, NextStart } from "../model/start.js";

/** Why a start is cold. */
export interface ColdReason {
	readonly reason: string;
	readonly kind: ColdKind;
}

/** What is known when a worker is to be started. */
export interface WarmFacts {
	/** `flag`: what keeps the hook out of Python. */
	readonly helper:
		| { readonly state: "none"; readonly flag?: string | undefined }
		| { readonly state: "preparing" }
		| { readonly state: "stopped" }
		| ({ readonly state: "refused" } & ColdReason)
		| { readonly state: "ready"; readonly parked: number };
	/** What is otherwise in this start than in the one that the helper knows. */
	readonly difference: string | undefined;
	/** How many rounds in a row ended within a second after warm starts. */
	readonly quickFailures: number;
}

export type WarmDecision =
	| { readonly start: "warm"; readonly reason: string }
	| ({ readonly start: "cold" } & ColdReason);

/** After so many, the warmth itself may be what fails. */
export const MOST_QUICK_FAILURES = 2;
export const TOO_QUICK = "the last two warm starts failed within a second";
export const NONE_READY = "no process is ready yet";

/** How a worker is started, and why. */
export function warmOrCold({
	helper,
	difference,
	quickFailures,
}: WarmFacts): WarmDecision {
	if (quickFailures >= MOST_QUICK_FAILURES) {
		return cold("failing", TOO_QUICK);
	}
	switch (helper.state) {
		case "none":
			return helper.flag === undefined
				? cold("first", "no worker has made a step yet")
				: cold("command", `Python runs with ${helper.flag}`);
		case "preparing":
			return cold("not-ready", "the helper is still importing");
		case "stopped":
			return cold("ended", "the helper was stopped by a signal");
		case "refused":
			return cold(helper.kind, helper.reason);
		case "ready":
			break;
		default:
			return helper satisfies never;
	}
	if (difference !== undefined) return cold("changed", difference);
	if (helper.parked === 0) return cold("not-ready", NONE_READY);
	return { start: "warm", reason: "its imports are done" };
}

export function cold(kind: ColdKind, reason: string): WarmDecision {
	return { start: "cold", kind, reason };
}

/** How the next start would be, as far as that is known before it. */
export function nextWarmStart(
	facts: Pick<WarmFacts, "helper" | "quickFailures">,
	imported: Pick<NextStart, "modules" | "bytes">,
): NextStart {
	const { helper } = facts;
	const decision = warmOrCold({ ...facts, difference: undefined });
	const has = helper.state === "ready" ? imported : {};
	if (decision.start === "warm") return { start: "warm", ...has };
	const start = helper.state === "preparing" ? "importing" : "cold";
	return { start, reason: decision.reason, ...has };
}

/** Whether a helper is worth its memory, and can be had. */
export interface HelperFacts {
	readonly platform: NodeJS.Platform;
	readonly hasSetpriv: boolean;
	/** Available memory of this machine or control group; undefined if it is not known. */
	readonly availableBytes: number | undefined;
	/** What a worker has in memory. */
	readonly workerBytes: number;
}

/** Part of the available memory that a helper may take. */
const MOST_OF_MEMORY = 0.5;

/** Why no helper can be started on this machine; undefined if it can. */
export function helperProblem(facts: HelperFacts): ColdReason | undefined {
	if (facts.platform !== "linux") {
		return { kind: "machine", reason: "warm starts need Linux" };
	}
	if (!facts.hasSetpriv) {
		const reason = "warm starts need setpriv of util-linux 2.33 or later";
		return { kind: "machine", reason };
	}
	const { availableBytes, workerBytes } = facts;
	if (availableBytes === undefined) return undefined;
	if (workerBytes <= availableBytes * MOST_OF_MEMORY) return undefined;
	const reason = `memory is short: a worker has ${megabytes(workerBytes)}, and ${megabytes(availableBytes)} are available`;
	return { kind: "memory", reason };
}

function megabytes(bytes: number): string {
	return `${Math.round(bytes / 1e6)} MB`;
}
