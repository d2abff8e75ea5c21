import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECKERS } from "./checkers/index.js";
import { MUTANTS, type Mutant } from "./mutants/index.js";
import { type Verdict, Workspace } from "./workspace.js";

/** How many mutants are tried at a time. */
const AT_A_TIME = 2;

/** Tries every mutant, a few at a time; each verdict is there as soon as its turn is over. */
class Trials {
	private readonly workspaces: Workspace[] = [];
	private readonly verdicts = new Map<Mutant, Promise<Verdict>>();

	start(): void {
		const queue = new Map<Mutant, (verdict: Promise<Verdict>) => void>();
		for (const mutant of MUTANTS) {
			this.verdicts.set(
				mutant,
				new Promise((resolve) => queue.set(mutant, resolve)),
			);
		}
		const turns = queue.entries();
		for (let index = 0; index < AT_A_TIME; index++) {
			const workspace = new Workspace(process.cwd());
			this.workspaces.push(workspace);
			void takeTurns(workspace, turns);
		}
	}

	verdictOn(mutant: Mutant): Promise<Verdict> | undefined {
		return this.verdicts.get(mutant);
	}

	close(): void {
		for (const workspace of this.workspaces) workspace.remove();
	}
}

async function takeTurns(
	workspace: Workspace,
	turns: Iterator<[Mutant, (verdict: Promise<Verdict>) => void]>,
): Promise<void> {
	for (let next = turns.next(); !next.done; next = turns.next()) {
		const [mutant, tell] = next.value;
		const verdict = workspace
			.try(mutant)
			.catch((error) => ({ caught: false, output: String(error) }));
		tell(verdict);
		await verdict;
	}
}

describe("each guard that is taken out is missed", () => {
	const trials = new Trials();
	beforeAll(() => trials.start());
	afterAll(() => trials.close());

	it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
		"%s",
		async (_, mutant) => {
			const verdict = await trials.verdictOn(mutant);
			expect(verdict?.caught, verdict?.output).toBe(true);
		},
		300_000,
	);
});

it("finds each guard once in its file", () => {
	const lost = MUTANTS.filter(
		({ file, guard }) => readFileSync(file, "utf8").split(guard).length !== 2,
	);
	expect(lost.map(({ name }) => name)).toEqual([]);
});

it("has a mutant for every checker but those that hold by how the simulator is made", () => {
	const used = new Set(
		MUTANTS.flatMap(({ caughtBy }) =>
			"checker" in caughtBy ? [caughtBy.checker] : [],
		),
	);
	const unused = CHECKERS.map(({ name }) => name).filter(
		(name) => !used.has(name),
	);
	expect(unused).toEqual(["one-round-a-process"]);
});
