import type { Mutant } from "./mutant.js";

const STAY_TESTS = "test/unit/rendezvous/plan-finished-stay.test.ts";
const SETTLE_TESTS = "test/unit/rendezvous/settle-incident.test.ts";
const SURVIVOR_TESTS = "test/unit/rendezvous/plan-survivors.test.ts";

/** Guards of what wishes and late deaths cost, and of nodes that stay finished. */
export const WISH_MUTANTS: readonly Mutant[] = [
	{
		name: "charge a wish at once",
		file: "src/rendezvous/charge-incident.ts",
		guard: "return isWish || (unaware",
		without: "return (unaware",
		caughtBy: { checker: "settlement" },
	},
	{
		name: "charge a failure before it is known who has gone",
		file: "src/rendezvous/charge-incident.ts",
		guard: "return isWish || (unaware && failsRun === null && seats > 1);",
		without: "return isWish;",
		caughtBy: { checker: "settlement" },
	},
	{
		name: "charge at once though a peer is seen to have gone",
		file: "src/rendezvous/charge-incident.ts",
		guard: "	return why.length > 0\n",
		without: "	return why.length > 99\n",
		caughtBy: { test: SETTLE_TESTS, named: "at once" },
	},
	{
		name: "lay a failure to what befell its own node",
		file: "src/rendezvous/why-gone.ts",
		guard: ".filter((place) => place.nodeId !== nodeId)",
		without: "",
		caughtBy: { checker: "settlement" },
	},
	{
		name: "charge a failure though a member was cut off",
		file: "src/rendezvous/why-gone.ts",
		guard: "whyGone(view, place) ?? whyFenced(view, place) ?? []",
		without: "whyGone(view, place) ?? []",
		caughtBy: { test: SETTLE_TESTS, named: "cut off" },
	},
	{
		name: "begin a round with a budget that is spent",
		file: "src/rendezvous/settle-incident.ts",
		guard: "goesOn: outcome === null && !isSpent",
		without: "goesOn: true",
		caughtBy: { checker: "node-budgets" },
	},
	{
		name: "never settle a wish",
		file: "src/rendezvous/settle-incident.ts",
		guard: "if (unpaid === undefined) return undefined;",
		without: "return undefined;",
		caughtBy: { checker: "settlement" },
	},
	{
		name: "charge a wish though a node has gone",
		file: "src/rendezvous/settle-incident.ts",
		guard: "	return why.length > 0\n",
		without: "	return why.length > 99\n",
		caughtBy: { checker: "settlement" },
	},
	{
		name: "grant a wish though nobody has gone",
		file: "src/rendezvous/settle-incident.ts",
		guard: "	return why.length > 0\n",
		without: "	return why.length >= 0\n",
		caughtBy: { checker: "settlement" },
	},
	{
		name: "leave a round because a finished member vanished",
		file: "src/rendezvous/why-gone.ts",
		guard: ".filter(({ nodeId }) => !view.finished.has(nodeId))",
		without: "",
		caughtBy: { test: SETTLE_TESTS, named: "had finished" },
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
		guard: "	if (unpaid?.isWish && !isWish) return false;\n",
		without: "",
		caughtBy: { checker: "settlement" },
	},
	{
		name: "take a wish for the root where something failed",
		file: "src/rendezvous/charge-incident.ts",
		guard: "failed.length > 0 ? failed : fresh",
		without: "fresh",
		caughtBy: { checker: "settlement" },
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
