import { readFileSync, writeFileSync } from "node:fs";

/** One guard taken out of the source, and who must notice. */
export interface Mutant {
	readonly name: string;
	/** What stands in `src` once, or once in the file. */
	readonly guard: string;
	readonly file: string;
	/** What stands there instead. */
	readonly without: string;
	/** The checker that turns red, or the test that fails. */
	readonly caughtBy: ByChecker | ByTest;
}

interface ByChecker {
	readonly checker: string;
	/** The seed that caught it when that was last learnt; it may catch it no more. */
	readonly seed: number | undefined;
	/** Whether seeds are played with links. */
	readonly links: boolean;
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

/**
 * Every guard that is taken out in turn: below the file in which it stands its name and who notices, then as in a patch
 * the guard and what stands there instead. Space does not matter.
 */
const LIST = new URL("mutants.txt", import.meta.url);
const HEAD =
	/^(.+): (?:(\S+\.ts), "(.+)"|([\w-]+)( with links)?(?:, seed (\d+))?)$/;

export const MUTANTS: readonly Mutant[] = parse(readFileSync(LIST, "utf8"));

function parse(list: string): readonly Mutant[] {
	let file = "";
	const mutants: Mutant[] = [];
	for (const block of list.trimEnd().split("\n\n")) {
		const [head = "", ...lines] = block.split("\n");
		if (head.startsWith("# ")) {
			file = head.slice(2);
			continue;
		}
		const [, name, test, named = "", checker = "", links, seed] =
			HEAD.exec(head) ?? [];
		if (name === undefined) throw new Error(`who notices? ${head}`);
		const caughtBy =
			test === undefined
				? {
						...{ checker, links: links !== undefined },
						seed: seed === undefined ? undefined : Number(seed),
					}
				: { test, named };
		const after = (mark: string) =>
			lines
				.filter((line) => line.startsWith(mark))
				.map((line) => line.slice(2))
				.join("\n");
		mutants.push({
			...{ name, file, caughtBy },
			...{ guard: after("-"), without: after("+") },
		});
	}
	return mutants;
}

/** Writes down by which seeds mutants were caught, by their names. */
export function writeSeeds(seeds: ReadonlyMap<string, number>): void {
	const lines = readFileSync(LIST, "utf8").split("\n");
	const learnt = lines.map((line) => {
		const [, name = "", , , checker, links = ""] = HEAD.exec(line) ?? [];
		const seed = seeds.get(name);
		return checker === undefined || seed === undefined
			? line
			: `${name}: ${checker}${links}, seed ${seed}`;
	});
	writeFileSync(LIST, learnt.join("\n"));
}
