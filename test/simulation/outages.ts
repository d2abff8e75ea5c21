import { Random } from "./random.js";
import type { RunShape } from "./settings.js";
import type { SimAgent } from "./sim-agent.js";
import type { SimLinks } from "./sim-links.js";
import type { Simulation } from "./simulation.js";

/** A seed's outages come from another chance than its other events. */
const OTHER_CHANCE = 1_000_037;
const CUT_OFF = { requestsLost: true, answersLost: true };

/** The run's shape with links: its rounds ride out outages for a time. */
export function linked(shape: RunShape, seed: number): RunShape {
	const rideOutMs = new Random(seed * OTHER_CHANCE).integer(2, 40) * 1_000;
	return { ...shape, spec: { ...shape.spec, rideOutMs } };
}

/** The store is away for short and for long, for all or for some; links break; and more happens meanwhile. */
export function planOutages(run: Simulation, seed: number): void {
	const random = new Random(seed * OTHER_CHANCE + 1);
	for (let count = random.integer(1, 4); count > 0; count--) {
		run.after(random.between(2_000, run.lastFault), () => {
			const durationMs = run.leaseTtlMs * someTtls(random);
			random.pick([away, away, partition, partition, partition])(
				run,
				random,
				durationMs,
			);
			for (let more = random.integer(0, 3); more > 0; more--) {
				run.after(random.between(0, 1.2 * durationMs), () => {
					const [agent] = random.shuffle(run.living());
					if (agent) random.pick(MEANWHILE)(run, agent, random);
				});
			}
		});
	}
	for (let count = random.integer(0, 6); count > 0; count--) {
		run.after(random.between(2_000, run.lastFault), () => {
			const [agent] = random.shuffle(run.living());
			if (agent) breakLinks(run, agent, random);
		});
	}
}

function someTtls(random: Random): number {
	return random.chance(0.5) ? random.between(0.1, 3) : random.between(3, 20);
}

/** For everybody. */
function away(run: Simulation, random: Random, durationMs: number): void {
	const { store } = run;
	if (random.chance(0.5)) store.freeze(durationMs);
	else store.restart(durationMs);
}

/** Those that live are cut off, all or most of them, while newcomers reach it. */
function partition(run: Simulation, random: Random, durationMs: number): void {
	const isWhole = random.chance(0.6);
	const oneWay = random.pick([
		CUT_OFF,
		CUT_OFF,
		{ requestsLost: true },
		{ answersLost: true },
	]);
	const cutOff = new Set<SimLinks>();
	for (const agent of run.living()) {
		if (!isWhole && random.chance(0.3)) continue;
		if (agent.links) cutOff.add(agent.links);
		const longer = random.chance(0.7) ? 1 : random.between(0.8, 1.2);
		run.disturb(agent, durationMs * longer, oneWay);
	}
	for (let count = random.integer(0, 3); count > 0; count--) {
		run.after(random.between(0, durationMs), () => run.startAgent());
	}
	if (random.chance(0.6)) run.splitLinks(cutOff, durationMs);
}

type Meanwhile = (run: Simulation, agent: SimAgent, random: Random) => void;

const MEANWHILE: readonly [Meanwhile, ...Meanwhile[]] = [
	(_, agent) => agent.crash(),
	(_, agent) => agent.failWorker(),
	(run, agent, random) => agent.freeze(run.leaseTtlMs * random.between(0.2, 3)),
	(run, agent, random) => agent.sleep(run.leaseTtlMs * random.between(0.2, 3)),
	(_, agent) => agent.askToStop(),
	(run) => run.startAgent(),
	breakLinks,
];

/** One agent's links are closed, or carry nothing in one direction or both for a while. */
function breakLinks(run: Simulation, agent: SimAgent, random: Random): void {
	const { links } = agent;
	if (links === undefined) return;
	const kind = random.pick(["cut", "mute", "deaf", "dead"] as const);
	if (kind === "cut") {
		links.cut();
		return;
	}
	links.isMute = kind !== "deaf";
	links.isDeaf = kind !== "mute";
	run.timeline.after(run.leaseTtlMs * random.between(0.1, 4), () =>
		links.mend(),
	);
}

/** In one of so many runs with links more goes wrong; the others play as if it could not. */
const MORE_IN = 4;

/** One link is cut, the store is set up from an older copy, or a node that rides out an outage is started elsewhere. */
export function planRarities(run: Simulation, seed: number): void {
	if (seed % MORE_IN !== 2) return;
	const random = new Random(seed * OTHER_CHANCE + 2);
	for (let count = random.integer(1, 4); count > 0; count--) {
		run.after(random.between(2_000, run.lastFault), () =>
			random.pick(RARITIES)(run, random),
		);
	}
}

type Rarity = (run: Simulation, random: Random) => void;

const RARITIES: readonly [Rarity, ...Rarity[]] = [
	cutOneLink,
	cutOneLink,
	startRiderElsewhere,
	startRiderElsewhere,
	restoreCopy,
];

/** In one direction or both. */
function cutOneLink(run: Simulation, random: Random): void {
	const ends = run.living().flatMap(({ links }) => links ?? []);
	const [from, to] = random.shuffle(ends);
	if (from === undefined || to === undefined) return;
	const durationMs = run.leaseTtlMs * someTtls(random);
	run.breakLink(from, to, durationMs);
	if (random.chance(0.5)) run.breakLink(to, from, durationMs);
}

/** All that live are cut off from the store, and some are started again on other machines. */
function startRiderElsewhere(run: Simulation, random: Random): void {
	const cutOff = random.shuffle(run.living());
	const durationMs = run.leaseTtlMs * random.between(3, 8);
	for (const agent of cutOff) run.disturb(agent, durationMs, CUT_OFF);
	for (const { history } of cutOff.slice(0, random.integer(1, 2))) {
		run.after(random.between(0, durationMs / 2), () =>
			run.startAgent(history.nodeId),
		);
	}
}

/** Seldom: hardly anything of such a run is left to be looked at. */
function restoreCopy(run: Simulation, random: Random): void {
	const ageMs = random.chance(0.5)
		? random.between(50, 2_000)
		: random.between(2_000, 20_000);
	if (random.chance(0.3)) {
		run.store.restoreCopy(ageMs, random.between(500, 4_000));
	}
}
