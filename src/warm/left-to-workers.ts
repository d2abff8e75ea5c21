import type {
	LeftModule,
	LeftOut,
	Ready,
	SetVariable,
} from "./helper-messages.js";
import type { ToImport } from "./learned-imports.js";

/** Collects what helpers could not import ahead. */
export class LeftOutModules {
	private readonly modules = new Map<string, LeftModule>();
	private readonly sets = new Map<string, SetVariable>();

	get known(): LeftOut {
		const leaveOut = [...this.modules.values()];
		return { leaveOut, sets: [...this.sets.values()] };
	}

	/** Returns whether this is news. */
	add({ leaveOut, sets }: LeftOut): boolean {
		const news = leaveOut.filter(({ module, alone }) => {
			const known = this.modules.get(module);
			return known === undefined || (known.alone && !alone);
		});
		for (const one of news) this.modules.set(one.module, one);
		for (const one of sets) {
			// What no process may import stays so, whatever one for all has found since.
			const alone = one.alone && this.sets.get(one.variable)?.alone !== false;
			this.sets.set(one.variable, { ...one, alone });
		}
		return news.length > 0;
	}

	/** What no process imports ahead, also none that is parked for one worker. */
	get never(): LeftOut {
		const { leaveOut, sets } = this.known;
		return {
			leaveOut: leaveOut.filter(({ alone }) => !alone),
			sets: sets.filter(({ alone }) => !alone),
		};
	}
}

/** Modules of one package that each worker imports by itself, for one reason. */
export interface LeftToWorkers {
	readonly name: string;
	readonly reason: string;
	/** Undefined if nobody has measured it. */
	readonly seconds: number | undefined;
	/** By index in the list. */
	readonly indexes: readonly number[];
}

/** Without it the rest does not help much. */
const HEAVIEST = "torch";

/** What the workers import by themselves, what costs most first. */
export function leftToWorkers(
	{ modules, milliseconds }: ToImport,
	leaveOut: readonly LeftModule[],
	left: Ready["left"],
): readonly LeftToWorkers[] {
	const reasons = new Map(
		leaveOut.map((one) => [one.module, wordsOfCause(one)] as const),
	);
	for (const [index, why] of left) reasons.set(modules[index] ?? "", why);
	const groups = new Map<string, { roots: Set<string>; indexes: number[] }>();
	for (const [index, name] of modules.entries()) {
		const root = outermost(name, reasons);
		if (root === undefined) continue;
		const key = `${packageOf(name)}\n${reasons.get(root)}`;
		const group = groups.get(key) ?? { roots: new Set(), indexes: [] };
		groups.set(key, group);
		group.roots.add(root);
		group.indexes.push(index);
	}
	return [...groups]
		.map(([key, { roots, indexes }]) => {
			const [top = "", reason = ""] = key.split("\n");
			const [only = top] = roots;
			const name = roots.size === 1 ? only : `${roots.size} modules of ${top}`;
			return { name, reason, indexes, seconds: secondsOf(indexes) };
		})
		.sort((one, other) => (other.seconds ?? 0) - (one.seconds ?? 0));

	function secondsOf(indexes: readonly number[]): number | undefined {
		if (milliseconds === undefined) return undefined;
		return sum(indexes.map((index) => milliseconds[index] ?? 0)) / 1_000;
	}
}

/** What users read once a helper can start workers. */
export function wordsOfReady(
	{ modules, bytes, seconds }: Ready,
	left: readonly LeftToWorkers[],
	pid: number | undefined,
): string {
	const isHalf = left.some(({ name }) => name === HEAVIEST);
	const memory = `${Math.round(bytes / 1e6)} MB`;
	const done = `restarts will be ${isHalf ? "half warm" : "warm"}: ${modules.toLocaleString("en-US")} modules in ${seconds.toFixed(1)} s, ${memory} (pid ${pid})`;
	if (left.length === 0) return done;
	return `${done}; left to the workers: ${left.map(wordsOfLeft).join(", ")}`;
}

/** "pandas (0.4 s, it starts a thread)" */
function wordsOfLeft({ name, seconds, reason }: LeftToWorkers): string {
	const cost = seconds === undefined ? "" : `${seconds.toFixed(1)} s, `;
	return `${name} (${cost}${reason})`;
}

function wordsOfCause({ module, root, what }: LeftModule): string {
	const who = packageOf(root) === packageOf(module) ? "it" : root;
	return `${who} ${what}`;
}

/** The outermost package that is left out and has this module; undefined if it is not left out. */
function outermost(
	name: string,
	reasons: ReadonlyMap<string, string>,
): string | undefined {
	const parts = name.split(".");
	return parts
		.map((_, index) => parts.slice(0, index + 1).join("."))
		.find((prefix) => reasons.has(prefix));
}

function packageOf(name: string): string {
	return name.split(".", 1)[0] ?? name;
}

function sum(numbers: readonly number[]): number {
	return numbers.reduce((total, one) => total + one, 0);
}
