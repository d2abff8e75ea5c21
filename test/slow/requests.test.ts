import { expect, it } from "vitest";
import { quietRestart, type Requests } from "../simulation/quiet-restart.js";

const SIZES = [2, 4, 10, 40];
const SEEDS = 8;

/** What an agent may ask of the store for one restart: it is told of the end, the next round's beginning, and little else. */
const MOST = 8;
/** It goes by what its watches tell. At times they tell of a round before they tell of its seat. */
const MOST_LOOKS = 1;

it("asks the store for little in a restart, whatever the size of the job", async () => {
	for (const size of SIZES) {
		const asked: Requests[] = [];
		for (let seed = 1; seed <= SEEDS; seed++) {
			asked.push(...(await quietRestart(seed, size)));
		}
		const others = asked.filter(({ isCoordinator }) => !isCoordinator);
		const coordinators = asked.filter(({ isCoordinator }) => isCoordinator);
		console.log(
			`${size} agents, a restart round: ${inWords(others)} an agent; ${inWords(coordinators)} the coordinator's`,
		);
		expect(Math.max(...others.map(total))).toBeLessThanOrEqual(MOST);
		expect(meanOf(others, ({ looks }) => looks)).toBeLessThan(MOST_LOOKS);
	}
});

function total({ looks, writes }: Requests): number {
	return looks + writes;
}

function meanOf(
	asked: readonly Requests[],
	part: (one: Requests) => number,
): number {
	return asked.reduce((sum, one) => sum + part(one), 0) / asked.length;
}

function inWords(asked: readonly Requests[]): string {
	const mean = (part: (one: Requests) => number) =>
		meanOf(asked, part).toFixed(1);
	const most = Math.max(...asked.map(total));
	return `${mean(({ looks }) => looks)} looks + ${mean(({ writes }) => writes)} writes (at most ${most})`;
}
