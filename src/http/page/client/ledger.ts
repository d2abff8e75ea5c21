import { formatDuration } from "../../../base/units.js";
import { section } from "./table.js";
import { type Child, h, type Tree } from "./tree.js";

/** What node time is spent on, in the order of the bar. */
const CATEGORIES: readonly (readonly [name: string, words: string])[] = [
	["productive", "new steps"],
	["repeated", "steps made again"],
	["startup", "start-up to the first step"],
	["saving", "saving"],
	["loading", "loading"],
	["straggler", "waiting for a straggler"],
	["detecting", "noticing"],
	["stopping", "ending workers"],
	["agreeing", "agreeing on a round"],
	["waiting-for-nodes", "waiting for nodes"],
	["paused", "paused"],
	["idle", "idle"],
	["unknown", "not known"],
];

const WIDTH = 1_000;
const HEIGHT = 14;

interface Share {
	readonly name: string;
	readonly words: string;
	readonly seconds: number;
}

/** Where the node time of the run went; nothing if the agent does not tell. */
export function ledgerSection(document: object): Child {
	const shares = sharesOf("ledger" in document ? document.ledger : undefined);
	const all = shares.reduce((sum, { seconds }) => sum + seconds, 0);
	if (all === 0) return null;
	const lost = shares
		.filter(({ name }) => name !== "productive")
		.reduce((sum, { seconds }) => sum + seconds, 0);
	const words = `lost ${time(lost)} of ${time(all)} of node time, ${percent(lost / all)}`;
	return section(
		"ledger",
		"Where the time went",
		h("span", { class: "note" }, words),
		bar(shares, all, words),
		h(
			"ul",
			{ class: "legend" },
			shares.map(({ name, words: what, seconds }) =>
				h(
					"li",
					{ "data-key": name },
					h(
						"svg",
						{ class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" },
						h("rect", { class: name, width: 10, height: 10 }),
					),
					`${what} ${time(seconds)}, ${percent(seconds / all)}`,
				),
			),
		),
	);
}

function bar(shares: readonly Share[], all: number, label: string): Tree {
	let x = 0;
	return h(
		"svg",
		{
			...{ class: "ledger", role: "img", "aria-label": label },
			...{ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" },
		},
		shares.map(({ name, words, seconds }) => {
			const width = (seconds / all) * WIDTH;
			const from = x;
			x += width;
			return h("rect", {
				...{ class: name, x: from.toFixed(2), width: width.toFixed(2) },
				...{ height: HEIGHT, "data-tip": `${words}: ${time(seconds)}` },
			});
		}),
	);
}

/** The categories that took time. What comes from the agent is not trusted to have this form. */
function sharesOf(ledger: unknown): readonly Share[] {
	if (typeof ledger !== "object" || ledger === null) return [];
	const given = new Map<string, unknown>(Object.entries(ledger));
	return CATEGORIES.flatMap(([name, words]) => {
		const seconds = given.get(name);
		const isTime =
			typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0;
		return isTime ? [{ name, words, seconds }] : [];
	});
}

function time(seconds: number): string {
	return formatDuration(seconds * 1_000);
}

function percent(share: number): string {
	return `${(100 * share).toFixed(1)} %`;
}
