import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { SimulatedRun } from "./simulate.js";

/**
 * What each seed led to, one line a seed. A change of the code that changes no behaviour changes no line;
 * after one that does, `npm run test:sim -- --seeds 2000 --keep` writes the file again.
 */
const FILE = new URL("golden/seeds.txt", import.meta.url);
const PARTS = ["decisions", "words", "records"];
/** A change of phase, an event of a worker or a change of the round, without the words that explain it. */
const DECISION = /^(?:[A-Z]+(?:→[A-Z]+)?\b|worker \d.*|tells .*|round: .*)/;

/** Digests of who decided what when, of the same with all reasons in words, and of what the store has taken. */
export function digestsOf({ trace, history }: SimulatedRun): string {
	const decisions = trace.flatMap(({ at, who, what }) => {
		const decision = DECISION.exec(what)?.[0];
		return decision === undefined ? [] : [[at, who, decision]];
	});
	return [decisions, trace, history.written].map(digest).join(" ");
}

/** The digests that the file keeps, by seed. */
export function readKept(): ReadonlyMap<number, string> {
	const lines = readFileSync(FILE, "utf8").trimEnd().split("\n");
	return new Map(
		lines.map((line) => {
			const space = line.indexOf(" ");
			return [Number(line.slice(0, space)), line.slice(space + 1)];
		}),
	);
}

export function writeKept(digests: ReadonlyMap<number, string>): void {
	const lines = [...digests].map(([seed, kept]) => `${seed} ${kept}\n`);
	writeFileSync(FILE, lines.join(""));
}

/** What of a run differs from what is kept of its seed, in words; empty where nothing does. */
export function changedSince(kept: string, now: string): string {
	const before = kept.split(" ");
	const after = now.split(" ");
	return PARTS.filter((_, part) => before[part] !== after[part]).join(", ");
}

function digest(lines: readonly unknown[]): string {
	return createHash("sha256")
		.update(JSON.stringify(lines))
		.digest("hex")
		.slice(0, 8);
}
