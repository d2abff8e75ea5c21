import { expect, it, vi } from "vitest";
import { ElasticRunError } from "../../../src/base/errors.js";
import {
	askPolicy,
	type PolicyColumn,
} from "../../../src/policies/check-decision.js";

/** What is said of a decision, which a user's own code may get wrong in any way. */
function problemOf(column: PolicyColumn, decision: unknown): string {
	try {
		askPolicy("mine", column, vi.fn().mockReturnValue(decision));
	} catch (error) {
		if (!(error instanceof ElasticRunError)) throw error;
		expect(error.code).toBe("POLICY_ILLEGAL");
		return error.message;
	}
	return "";
}

const LEGAL = { workers: "restart", charge: "run", reason: "why" };
const ON_SCALE = "when the world changes, use restart, pause, leave, fail-run";
const ON_FAILURE =
	"when a worker failed, use restart, replace-failed, ignore, leave, fail-run";

it.each([
	["scale", "restart", ""],
	["scale", "pause", ""],
	["scale", "leave", ""],
	["scale", "fail-run", ""],
	["scale", "replace-failed", ON_SCALE],
	["scale", "ignore", ON_SCALE],
	["scale", "reboot", ON_SCALE],
	["failure", "restart", ""],
	["failure", "replace-failed", ""],
	["failure", "leave", ""],
	["failure", "fail-run", ""],
	["failure", "pause", ON_FAILURE],
	["failure", undefined, ON_FAILURE],
] as const)("T12 in the column %s, workers: %s", (column, workers, words) => {
	expect(problemOf(column, { ...LEGAL, workers })).toBe(
		words && `restart policy "mine" decided workers: "${workers}"; ${words}`,
	);
});

it.each([
	[undefined, "returned no decision: { workers, charge, reason } is needed"],
	[null, "returned no decision: { workers, charge, reason } is needed"],
	["pause", "returned no decision: { workers, charge, reason } is needed"],
	[
		{ ...LEGAL, charge: "all" },
		'decided charge: "all"; use run, node, worker, nothing',
	],
	[
		{ ...LEGAL, workers: "ignore" },
		'decided workers: "ignore" with charge: "run"; use nothing',
	],
	[{ ...LEGAL, reason: "" }, "gave no reason for its decision"],
	[{ ...LEGAL, reason: 7 }, "gave no reason for its decision"],
])("T12 a decision %j is illegal", (decision, words) => {
	expect(problemOf("failure", decision)).toBe(`restart policy "mine" ${words}`);
});

it("T12 a policy that throws is named, with what it threw", () => {
	const ask = () => {
		throw new TypeError("no such budget");
	};
	expect(() => askPolicy("mine", "scale", ask)).toThrow(
		'restart policy "mine" threw TypeError: no such budget',
	);
});
