import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { PROJECT } from "../../helpers/node-bundle.js";
import { bundle } from "./bundle.js";
import type { Mutant, Tested, Verdict } from "./index.js";
import { runNode } from "./run-node.js";

/** What vitest's JSON reporter writes, as far as it is read here. */
interface Results {
	readonly testResults: readonly {
		readonly name: string;
		readonly message: string;
		readonly assertionResults: readonly {
			readonly fullName: string;
			readonly status: string;
			readonly failureMessages: readonly string[];
		}[];
	}[];
}

/** A start of vitest costs two seconds, so that one start plays them all: each a file of its test and all that it imports. */
export async function tryByTests(
	mutants: readonly Tested[],
	directory: string,
): Promise<ReadonlyMap<Mutant, Verdict>> {
	const tests = [...new Set(mutants.map(({ caughtBy }) => caughtBy.test))];
	await Promise.all([
		...tests.map((test, index) =>
			bundle(test, undefined, join(directory, untouchedFile(index))),
		),
		...mutants.map((mutant, index) =>
			bundle(mutant.caughtBy.test, mutant, join(directory, mutantFile(index))),
		),
	]);
	const results = await runVitest(directory);
	const files = new Map(
		results.testResults.map((file) => [basename(file.name), file]),
	);
	return new Map(
		mutants.map((mutant, index) => [
			mutant,
			judge(
				mutant,
				files.get(mutantFile(index)),
				files.get(untouchedFile(tests.indexOf(mutant.caughtBy.test))),
			),
		]),
	);
}

const untouchedFile = (index: number) => `untouched-${index}.test.js`;
const mutantFile = (index: number) => `mutant-${index}.test.js`;

/** The mutant is caught where a test of that name is green with the guard, and red without it. */
function judge(
	{ caughtBy: { test, named } }: Tested,
	mutated: Results["testResults"][number] | undefined,
	untouched: Results["testResults"][number] | undefined,
): Verdict {
	const green = new Set(
		untouched?.assertionResults
			.filter(({ status }) => status === "passed")
			.map(({ fullName }) => fullName),
	);
	const tests = (mutated?.assertionResults ?? []).filter(
		({ fullName }) => fullName.includes(named) && green.has(fullName),
	);
	const output =
		tests.length === 0
			? `no green test of ${test} is named "${named}" ${mutated?.message}`
			: `green without the guard: ${tests.map(({ fullName }) => fullName).join("; ")}`;
	return { caught: tests.some(({ status }) => status === "failed"), output };
}

async function runVitest(directory: string): Promise<Results> {
	const outputFile = join(directory, "results.json");
	writeFileSync(
		join(directory, "vitest.config.js"),
		`export default { test: { pool: "threads", isolate: false, maxWorkers: 2, testTimeout: 20000, include: ["*.test.js"], reporters: ["json"], outputFile: ${JSON.stringify(outputFile)} } };\n`,
	);
	const vitest = join(PROJECT, "node_modules/vitest/vitest.mjs");
	const { output } = await runNode([vitest, "run"], directory);
	try {
		return JSON.parse(readFileSync(outputFile, "utf8")) as Results;
	} catch (cause) {
		throw new Error(`vitest wrote no results: ${output}`, { cause });
	}
}
