import { FAULTS, type FaultKind } from "./faults.js";

/** A worker that runs here, its launcher, and its place in the world. */
export interface Victim {
	readonly nodeId: string;
	readonly agentPid: number;
	readonly pid: number;
	readonly round: number;
	readonly rank: number;
}

/** A fault for one worker of one round, or for its launcher. */
export interface Aim {
	readonly round: number;
	readonly rank: number;
	readonly kind: FaultKind;
}

export interface ChaosPlan {
	readonly aims: readonly Aim[];
	/** From the moment when an aim is seen until the fault, in milliseconds. */
	readonly delayMs: number;
	/** The mean time between random faults, in milliseconds; null if there are none. */
	readonly meanMs: number | null;
	/** The kinds of random faults. */
	readonly kinds: readonly FaultKind[];
	/** How long a frozen process stays frozen, in milliseconds. */
	readonly freezeMs: number;
}

/** A signal to one process, and why. */
export interface Act {
	readonly kind: FaultKind | "continue";
	readonly signal: NodeJS.Signals;
	readonly pid: number;
	readonly nodeId: string;
	/** The place in the world of the process, or of the worker for which it was chosen. */
	readonly round: number;
	readonly rank: number;
}

export interface ChaosState {
	readonly pending: readonly Aim[];
	/** Aims that were seen, and when their fault is due. */
	readonly due: readonly { readonly aim: Aim; readonly at: number }[];
	/** When the next random fault is due; null if there is none. */
	readonly nextAt: number | null;
	/** The frozen processes, and when they continue. */
	readonly frozen: readonly { readonly act: Act; readonly until: number }[];
}

export interface ChaosStep {
	readonly state: ChaosState;
	readonly acts: readonly Act[];
	/** Aims that were gone when their fault was due. */
	readonly missed: readonly Aim[];
}

export function beginChaos(
	plan: ChaosPlan,
	now: number,
	random: () => number,
): ChaosState {
	const nextAt = plan.meanMs === null ? null : now + waitMs(plan, random);
	return { pending: plan.aims, due: [], nextAt, frozen: [] };
}

/** Whether all possible faults were made and nothing is frozen any more. */
export function isOver({ pending, due, nextAt, frozen }: ChaosState): boolean {
	return pending.length + due.length + frozen.length === 0 && nextAt === null;
}

/** The actions that are due now, on the present processes. */
export function planChaos(
	plan: ChaosPlan,
	state: ChaosState,
	victims: readonly Victim[],
	now: number,
	random: () => number,
): ChaosStep {
	const seen = state.pending.filter((aim) => find(aim, victims) !== undefined);
	const waiting = [
		...state.due,
		...seen.map((aim) => ({ aim, at: now + plan.delayMs })),
	];
	const ripe = waiting.filter(({ at }) => at <= now).map(({ aim }) => aim);
	const aimed = ripe.flatMap((aim) => actOn(find(aim, victims), aim.kind));
	const isDue = state.nextAt !== null && state.nextAt <= now;
	const victim = isDue ? pick(victims, random) : undefined;
	const kind = pick(plan.kinds, random);
	const byChance = kind === undefined ? [] : actOn(victim, kind);
	const thawed = state.frozen.filter(({ until }) => until <= now);
	const faults = [...aimed, ...byChance];
	return {
		missed: ripe.filter((aim) => find(aim, victims) === undefined),
		acts: [...thawed.map(({ act }) => toContinue(act)), ...faults],
		state: {
			pending: state.pending.filter((aim) => !seen.includes(aim)),
			due: waiting.filter(({ at }) => at > now),
			// If no process is there to hit, it stays due.
			nextAt: byChance.length > 0 ? now + waitMs(plan, random) : state.nextAt,
			frozen: [
				...state.frozen.filter(({ until }) => until > now),
				...faults
					.filter(
						({ kind: done }) => done !== "continue" && FAULTS[done].isPassing,
					)
					.map((act) => ({ act, until: now + plan.freezeMs })),
			],
		},
	};
}

/** Continues all frozen processes. */
export function thawAll({ frozen }: ChaosState): readonly Act[] {
	return frozen.map(({ act }) => toContinue(act));
}

function find(
	{ round, rank }: Aim,
	victims: readonly Victim[],
): Victim | undefined {
	return victims.find((one) => one.round === round && one.rank === rank);
}

function actOn(victim: Victim | undefined, kind: FaultKind): readonly Act[] {
	if (victim === undefined) return [];
	const { nodeId, round, rank } = victim;
	const { target, signal } = FAULTS[kind];
	const pid = target === "agent" ? victim.agentPid : victim.pid;
	return [{ kind, signal, pid, nodeId, round, rank }];
}

function toContinue(act: Act): Act {
	return { ...act, kind: "continue", signal: "SIGCONT" };
}

/** The time between random faults that are independent of each other. */
function waitMs({ meanMs }: ChaosPlan, random: () => number): number {
	return -Math.log(1 - random()) * (meanMs ?? 0);
}

function pick<Item>(
	items: readonly Item[],
	random: () => number,
): Item | undefined {
	return items[Math.floor(random() * items.length)];
}
