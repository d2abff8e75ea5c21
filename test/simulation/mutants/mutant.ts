/** One guard taken out of the source, and who must notice. */
export interface Mutant {
	readonly name: string;
	/** What stands in `src` once. */
	readonly guard: string;
	/** Needed if it stands in other files too. */
	readonly file?: string;
	/** The row of the node's table in which it stands; needed if it stands in others too. */
	readonly row?: string;
	/** What stands there instead. */
	readonly without: string;
	/** The checker that turns red, or the test that fails. */
	readonly caughtBy: ByChecker | ByTest;
}

interface ByChecker {
	readonly checker: string;
}

interface ByTest {
	/** The file of the test. */
	readonly test: string;
	/** A part of the test's name. */
	readonly named: string;
}

/** A mutant that a checker of the simulator must notice. */
export type Checked = Mutant & { readonly caughtBy: ByChecker };

/** A mutant that a unit test must notice. */
export type Tested = Mutant & { readonly caughtBy: ByTest };

export function isChecked(mutant: Mutant): mutant is Checked {
	return "checker" in mutant.caughtBy;
}

export function isTested(mutant: Mutant): mutant is Tested {
	return "test" in mutant.caughtBy;
}

/** Whether the guard was missed, and what was printed. */
export interface Verdict {
	readonly caught: boolean;
	readonly output: string;
}
