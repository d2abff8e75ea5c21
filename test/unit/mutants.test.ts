import { expect, it } from "vitest";
import { findGuard } from "../simulation/mutants/find-guard.js";
import { MUTANTS } from "../simulation/mutants/index.js";

it("finds each guard that a mutant takes out, once", () => {
	const lost = MUTANTS.flatMap((mutant) => {
		try {
			findGuard(mutant);
			return [];
		} catch (error) {
			return [`${mutant.name}: ${error}`];
		}
	});
	expect(lost).toEqual([]);
});

it("finds a guard in another layout, but not in the middle of a name", () => {
	const caughtBy = { test: "", named: "" };
	const mutant = { name: "", file: "", without: "", caughtBy };
	const { file, mutated } = findGuard({
		...mutant,
		guard: "function didYouMean(word: string,\n\tknown: Iterable<string>)",
	});
	expect(file).toBe("src/base/nearest-name.ts");
	expect(mutated).not.toContain("function didYouMean");
	const guard = "unction didYouMean(word: string, known: Iterable<string>)";
	expect(() => findGuard({ ...mutant, guard })).toThrow("nowhere");
});
