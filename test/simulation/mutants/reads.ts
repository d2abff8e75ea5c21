import type { Mutant } from "./mutant.js";

const READ_TESTS = "test/unit/rendezvous/store/etcd/read-snapshot.test.ts";
const COORDINATOR_TESTS = "test/unit/rendezvous/coordinator.test.ts";
const LOOP_TESTS = "test/unit/rendezvous/reconcile-loop.test.ts";
const LOOP = "src/rendezvous/member/reconcile-loop.ts";
const FILE = "src/rendezvous/store/etcd/codec.ts";

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
		file: "src/rendezvous/store/etcd/codec.ts",
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
		file: "src/rendezvous/member/coordinator.ts",
		guard: "else this.cache.forget();",
		without: "",
		caughtBy: { test: COORDINATOR_TESTS, named: "refused" },
	},
	{
		name: "look again at what has been read",
		file: LOOP,
		guard: "if (this.changed.revision > seen()) {",
		without: "if (this.changed.revision >= seen()) {",
		caughtBy: { test: LOOP_TESTS, named: "read already" },
	},
	{
		name: "forget the newest of several changes",
		file: LOOP,
		guard: "revision: Math.max(this.changed.revision, revision),",
		without: "revision,",
		caughtBy: { test: LOOP_TESTS, named: "came after" },
	},
];
