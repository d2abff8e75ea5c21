import { parseCount, parseDuration } from "../../src/config/parse/scalars.js";
import type { Settings } from "../../src/config/settings.js";
import { parseAims, parseKinds } from "../../src/operate/chaos/parse-chaos.js";
import type { ChaosPlan } from "../../src/operate/chaos/plan-chaos.js";
import { FlagReader } from "./flag-reader.js";

const FREEZE_MS = 10_000;

export interface ReadChaos {
	readonly plan: ChaosPlan;
	/** How long it lasts, in milliseconds; null if not given. */
	readonly forMs: number | null;
	readonly seed: number;
}

/**
 * Reads the flags of `chaos`, or says what is wrong with them.
 * @param seed the default seed
 */
export function readChaos(
	flags: Settings,
	seed: number,
): ReadChaos | { readonly problems: readonly string[] } {
	const reader = new FlagReader("chaos", flags);
	const plan: ChaosPlan = {
		aims: reader.read("at", parseAims) ?? [],
		delayMs: reader.read("delay", parseDuration) ?? 0,
		meanMs: reader.read("mtbf", parseDuration) ?? null,
		kinds: reader.read("kinds", parseKinds) ?? ["kill-worker"],
		freezeMs: reader.read("freeze", parseDuration) ?? FREEZE_MS,
	};
	const forMs = reader.read("for", parseDuration) ?? null;
	const chance = reader.read("seed", parseCount) ?? seed;
	if (!flags.has("at") && !flags.has("mtbf")) {
		reader.refuse(
			"say what is to happen: --at ROUND:RANK, --mtbf TIME, or both",
		);
	}
	if (plan.meanMs === 0) reader.refuse("--mtbf: use more than 0");
	const { problems } = reader;
	return problems.length > 0 ? { problems } : { plan, forMs, seed: chance };
}
