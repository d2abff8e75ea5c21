import type { Mutant } from "./mutant.js";

const READ_TESTS = "test/unit/rendezvous/etcd/read-snapshot.test.ts";
const COORDINATOR_TESTS = "test/unit/rendezvous/coordinator.test.ts";
const FILE = "src/rendezvous/etcd/read-snapshot.ts";

/** Guards of reading only what has changed. */
export const READ_MUTANTS: readonly Mutant[] = [
	{
		name: "overlook what was deleted",
		file: FILE,
		guard: "return isWhole ? { revision, entries } : undefined;",
		without: "return { revision, entries };",
		caughtBy: { checker: "convergence" },
	},
	{
		name: "overlook the first change after a look",
		file: "src/rendezvous/etcd/codec.ts",
		guard: "{ min_mod_revision: after + 1 }",
		without: "{ min_mod_revision: after + 2 }",
		caughtBy: { checker: "convergence" },
	},
	{
		name: "overlook every change after a look",
		file: FILE,
		guard: "new Map([...known.entries, ...changes])",
		without: "new Map([...changes, ...known.entries])",
		caughtBy: { checker: "convergence" },
	},
	{
		name: "mix the keys of two stores",
		file: FILE,
		guard: "if (revision < known.revision) return undefined;",
		without: "",
		caughtBy: { test: READ_TESTS, named: "lower" },
	},
	{
		name: "trust what is known though a write was refused",
		file: "src/rendezvous/coordinator.ts",
		guard: "if (!result.succeeded) this.known = undefined;",
		without: "",
		caughtBy: { test: COORDINATOR_TESTS, named: "refused" },
	},
];
