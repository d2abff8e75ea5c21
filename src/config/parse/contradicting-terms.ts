import type { NumberRange, RuleTerm } from "../../policies/rules/rule.js";

/** The kinds of which two terms of a rule cannot both hold, in words, one a kind: all terms of a rule must. */
export function contradictingTerms(
	terms: readonly RuleTerm[],
): readonly string[] {
	const pairs = terms.flatMap((term, index) =>
		terms.slice(index + 1).map((later) => [term, later] as const),
	);
	const kinds = pairs
		.filter(([one, other]) => excludes(one, other))
		.map(([{ kind }]) => kind);
	return [...new Set(kinds)].map((kind) =>
		kind === "uptime"
			? "uptime: no time is both shorter and longer; write two rules"
			: `${kind}: its terms never hold together; ${
					isNumeric(kind)
						? `put all values into one, for example ${kind}=3,4`
						: "write a rule for each"
				}`,
	);
}

function isNumeric(kind: RuleTerm["kind"]): boolean {
	return kind === "exit" || kind === "rank" || kind === "round";
}

function excludes(one: RuleTerm, other: RuleTerm): boolean {
	if ("ranges" in one && "ranges" in other) {
		return one.kind === other.kind && !overlap(one.ranges, other.ranges);
	}
	if ("name" in one && "name" in other) {
		return one.kind === other.kind && one.name !== other.name;
	}
	if (one.kind === "cause" && other.kind === "cause") {
		return one.cause !== other.cause;
	}
	if (one.kind !== "uptime" || other.kind !== "uptime") return false;
	const [shorter, longer] = one.sign === "<" ? [one, other] : [other, one];
	const isBoth = shorter.sign === "<" && longer.sign === ">";
	return isBoth && shorter.uptimeMs <= longer.uptimeMs;
}

function overlap(
	ones: readonly NumberRange[],
	others: readonly NumberRange[],
): boolean {
	return ones.some((one) =>
		others.some((other) => one.from <= other.to && other.from <= one.to),
	);
}
