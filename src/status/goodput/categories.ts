/** What a node-second may be spent on, and the explanation of each for people. Each one is in exactly one. */
export const CATEGORIES = {
	productive: "new steps",
	repeated: "steps made again after a restart",
	startup: "from the start of workers to their first step",
	saving: "saving checkpoints, as announced",
	loading: "loading checkpoints, as announced",
	straggler: "waiting for a slow rank",
	detecting: "from the first sign of a failure, or the last step of a hang",
	stopping: "ending workers",
	agreeing: "all nodes are ready, and the round has not begun",
	"waiting-for-nodes": "until the last node was ready",
	paused: "workers kept, waiting for the next round",
	idle: "finished early, or without a place in the round",
	unknown: "not known: steps that are not shown, interrupted or not comparable",
} as const;

export type Category = keyof typeof CATEGORIES;

/** Milliseconds by category. */
export type Spent = Readonly<Record<Category, number>>;

export const CATEGORY_NAMES = Object.keys(CATEGORIES) as readonly Category[];

export const NOTHING_SPENT: Spent = spentBy(() => 0);

export function spentBy(msOf: (category: Category) => number): Spent {
	const entries = CATEGORY_NAMES.map((name) => [name, msOf(name)] as const);
	return Object.fromEntries(entries) as Record<Category, number>;
}

export function addSpent(one: Spent, other: Partial<Spent>): Spent {
	return spentBy((name) => one[name] + (other[name] ?? 0));
}

export function totalSpent(spent: Spent): number {
	return CATEGORY_NAMES.reduce((total, name) => total + spent[name], 0);
}

/** What is known not to have been productive. */
export function lostOf(spent: Spent): number {
	return totalSpent(spent) - spent.productive - spent.unknown;
}
