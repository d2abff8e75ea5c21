/** What is known when a worker is to be started. */
export interface WarmFacts {
	/** `flag`: what keeps the hook out of Python. */
	readonly helper:
		| { readonly state: "none"; readonly flag?: string | undefined }
		| { readonly state: "preparing" }
		| { readonly state: "stopped" }
		| { readonly state: "refused"; readonly reason: string }
		| { readonly state: "ready"; readonly parked: number };
	/** What is otherwise in this start than in the one that the helper knows. */
	readonly difference: string | undefined;
	/** How many rounds in a row ended within a second after warm starts. */
	readonly quickFailures: number;
}

export interface WarmDecision {
	readonly start: "warm" | "cold";
	readonly reason: string;
}

/** After so many, the warmth itself may be what fails. */
export const MOST_QUICK_FAILURES = 2;

/** How a worker is started, and why. */
export function warmOrCold({
	helper,
	difference,
	quickFailures,
}: WarmFacts): WarmDecision {
	if (quickFailures >= MOST_QUICK_FAILURES) {
		return cold("the last two warm starts failed within a second");
	}
	switch (helper.state) {
		case "none":
			return cold(
				helper.flag === undefined
					? "no worker has made a step yet"
					: `Python runs with ${helper.flag}`,
			);
		case "preparing":
			return cold("the helper is still importing");
		case "stopped":
			return cold("the helper was stopped by a signal");
		case "refused":
			return cold(helper.reason);
		case "ready":
			break;
		default:
			return helper satisfies never;
	}
	if (difference !== undefined) return cold(difference);
	if (helper.parked === 0) return cold("no process is ready yet");
	return { start: "warm", reason: "its imports are done" };
}

function cold(reason: string): WarmDecision {
	return { start: "cold", reason };
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
export function helperProblem(facts: HelperFacts): string | undefined {
	if (facts.platform !== "linux") return "warm starts need Linux";
	if (!facts.hasSetpriv) {
		return "warm starts need setpriv of util-linux 2.33 or later";
	}
	const { availableBytes, workerBytes } = facts;
	if (availableBytes === undefined) return undefined;
	if (workerBytes <= availableBytes * MOST_OF_MEMORY) return undefined;
	return `memory is short: a worker has ${megabytes(workerBytes)}, and ${megabytes(availableBytes)} are available`;
}

function megabytes(bytes: number): string {
	return `${Math.round(bytes / 1e6)} MB`;
}
