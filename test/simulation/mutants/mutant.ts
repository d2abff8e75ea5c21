/** One guard taken out of the source, and who must notice. */
export interface Mutant {
	readonly name: string;
	readonly file: string;
	/** What stands in the file, once. */
	readonly guard: string;
	/** What stands there instead. */
	readonly without: string;
	/** The checker that turns red, or the test that fails. */
	readonly caughtBy:
		| { readonly checker: string }
		| { readonly test: string; readonly named: string };
}
