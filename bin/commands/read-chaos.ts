import type { Parsed } from "../../src/config/parse/parsed.js";
import { parseCount, parseDuration } from "../../src/config/parse/scalars.js";
import { parseAims, parseKinds } from "../../src/operate/chaos/parse-chaos.js";
import type { ChaosPlan } from "../../src/operate/chaos/plan-chaos.js";

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
	own: ReadonlyMap<string, string>,
	seed: number,
): ReadChaos | { readonly problems: readonly string[] } {
	const problems: string[] = [];
	function read<Value, Default>(
		name: string,
		parse: (text: string) => Parsed<Value>,
		otherwise: Default,
	): Value | Default {
		const text = own.get(name);
		if (text === undefined) return otherwise;
		const parsed = parse(text);
		if ("value" in parsed) return parsed.value;
		problems.push(
			...parsed.problems.map((words) => `chaos: --${name}: ${words}`),
		);
		return otherwise;
	}
	const plan: ChaosPlan = {
		aims: read("at", parseAims, []),
		delayMs: read("delay", parseDuration, 0),
		meanMs: read("mtbf", parseDuration, null),
		kinds: read("kinds", parseKinds, ["kill-worker"]),
		freezeMs: read("freeze", parseDuration, FREEZE_MS),
	};
	const forMs = read("for", parseDuration, null);
	const chance = read("seed", parseCount, seed);
	if (!own.has("at") && !own.has("mtbf")) {
		problems.push(
			"chaos: say what is to happen: --at ROUND:RANK, --mtbf TIME, or both",
		);
	}
	if (plan.meanMs === 0) problems.push("chaos: --mtbf: use more than 0");
	return problems.length > 0 ? { problems } : { plan, forMs, seed: chance };
}
