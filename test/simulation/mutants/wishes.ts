import type { Mutant } from "./mutant.js";

const STAY_TESTS = "test/unit/rendezvous/plan-finished-stay.test.ts";
const SURVIVOR_TESTS = "test/unit/rendezvous/plan-survivors.test.ts";

/** Guards of what wishes and late deaths cost, and of nodes that stay finished. */
export const WISH_MUTANTS: readonly Mutant[] = [
	{
		name: "charge a wish at once",
		file: "src/rendezvous/charge-incident.ts",
		guard: "	return root.isWish\n",
		without: "	return root.isWish && round.unpaid\n",
		caughtBy: { checker: "wishes" },
	},
	{
		name: "never settle a wish",
		file: "src/rendezvous/settle-wish.ts",
		guard: "if (unpaid === undefined) return undefined;",
		without: "return undefined;",
		caughtBy: { checker: "wishes" },
	},
	{
		name: "charge a wish though a node has gone",
		file: "src/rendezvous/settle-wish.ts",
		guard: "return gone.length > 0\n",
		without: "return gone.length > 99\n",
		caughtBy: { checker: "wishes" },
	},
	{
		name: "grant a wish though nobody has gone",
		file: "src/rendezvous/settle-wish.ts",
		guard: "return gone.length > 0\n",
		without: "return gone.length >= 0\n",
		caughtBy: { checker: "wishes" },
	},
	{
		name: "take who stays finished for one that has gone",
		file: "src/rendezvous/settle-wish.ts",
		guard: "!(finishedStay && view.finished.has(nodeId)) &&\n",
		without: "",
		caughtBy: { checker: "wishes" },
	},
	{
		name: "count a wish and the failure behind it",
		file: "src/rendezvous/charge-incident.ts",
		guard: "view.round.incidents + (view.round.unpaid ? 0 : 1)",
		without: "view.round.incidents + 1",
		caughtBy: { checker: "budget" },
	},
	{
		name: "let a wish hide the failure behind it",
		file: "src/rendezvous/charge-incident.ts",
		guard: "	if (unpaid !== undefined && !isWish) return false;\n",
		without: "",
		caughtBy: { checker: "wishes" },
	},
	{
		name: "take a wish for the root where something failed",
		file: "src/rendezvous/charge-incident.ts",
		guard: "failed.length > 0 ? failed : fresh",
		without: "fresh",
		caughtBy: { checker: "wishes" },
	},
	{
		name: "charge who dies of an incident that is over",
		file: "src/rendezvous/charge-incident.ts",
		guard: "return isOver || stillIn === root.round;",
		without: "return isOver;",
		caughtBy: { test: SURVIVOR_TESTS, named: "not heard" },
	},
	{
		name: "let those who stay finished work again",
		file: "src/agent/phases/finished.ts",
		guard: 'const stays = context.policy.finishedNodes === "stay";',
		without: "const stays = false;",
		caughtBy: { checker: "stay-finished" },
	},
	{
		name: "give a seat to who has finished",
		file: "src/rendezvous/candidates.ts",
		guard: "			!finished.includes(node.record.nodeId) &&\n",
		without: "",
		caughtBy: { checker: "stay-finished" },
	},
	{
		name: "wait for who has finished",
		file: "src/rendezvous/candidates.ts",
		guard: "if (finished.includes(nodeId)) {",
		without: 'if (finished.includes(nodeId) && nodeId === "") {',
		caughtBy: { test: STAY_TESTS, named: "begins anew" },
	},
	{
		name: "let newcomers in though someone stays finished",
		file: "src/rendezvous/plan-running-round.ts",
		guard: "config.finishedStay ? view.done.size : 0",
		without: "0",
		caughtBy: { checker: "why-left" },
	},
	{
		name: "count without those who have finished",
		file: "src/rendezvous/plan-open-round.ts",
		guard: "others.length + 1 + candidates.finished.length",
		without: "others.length + 1",
		caughtBy: { checker: "too-few" },
	},
];
