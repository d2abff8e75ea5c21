import { isForeign } from "../failures/index.js";
import type { HangKind, RankEvidence, Suspect } from "../model/index.js";

/** The content of `hang.json`, and what all nodes agree on. */
export interface Verdict {
	readonly kind: HangKind;
	/** Empty if nothing that is known points to anybody. */
	readonly suspects: readonly Suspect[];
	/** The ranks that are known to wait for others. */
	readonly waiting: readonly number[];
	/** Why, in one line. */
	readonly reason: string;
}

/** Whom a rule of the table names, and why. */
export type Accusation = Pick<Verdict, "kind" | "reason"> & {
	readonly ranks: readonly RankEvidence[];
	readonly why: (rank: RankEvidence) => string;
};

/** Undefined if nobody would be accused. */
export function some(
	ranks: readonly RankEvidence[],
	about: Omit<Accusation, "ranks">,
): Accusation | undefined {
	return ranks.length === 0 ? undefined : { ...about, ranks };
}

/** Parts with the same key, the largest first. */
export function partsOf<Item>(
	items: readonly Item[],
	keyOf: (item: Item) => string,
): readonly (readonly [string, readonly Item[]])[] {
	const parts = new Map<string, Item[]>();
	for (const item of items) {
		const key = keyOf(item);
		parts.set(key, [...(parts.get(key) ?? []), item]);
	}
	return [...parts].sort(([, left], [, right]) => right.length - left.length);
}

/** Functions in which a rank waits for other ranks; without a model's own code in it, autograd waits for DDP's collectives. */
const WAITING =
	/all_?reduce|all_?gather|all_?to_?all|reduce_?scatter|broadcast|barrier|\brecv\b|\bgather\b|\bscatter\b|_wait_for_|waitForWork|wait_for_work|_engine_run_backward/i;
const DATA_LOADER = /torch[/\\]utils[/\\]data[/\\]/;
const COMMUNICATION =
	/torch[/\\](distributed|nn[/\\]parallel)|mpi4py|horovod|jax[/\\](_src[/\\]distributed|experimental[/\\]multihost_utils)/;
/** Who writes its state may wait for a disk; torch's activation checkpoints are no state. */
const SAVING = /save|checkpoint|dump/i;
const ACTIVATIONS = /torch[/\\]utils[/\\]checkpoint/;

/** Whether what the user's innermost function has called is torch's data loader: it gives no batch. */
export function waitsForData({ frames }: RankEvidence): boolean {
	const own = frames.findIndex((frame) => !isForeign(frame));
	return frames
		.slice(0, own < 0 ? undefined : own)
		.some(({ file }) => DATA_LOADER.test(file));
}

/**
 * Whether its stack shows that it waits for other ranks; undefined without a stack. Only what the innermost function of
 * the user's has called counts: a model's own code runs inside of torch's DistributedDataParallel.
 */
export function waits({ frames }: RankEvidence): boolean | undefined {
	if (frames.length === 0) return undefined;
	const own = frames.findIndex((frame) => !isForeign(frame));
	return frames
		.slice(0, own < 0 ? undefined : own + 1)
		.some(
			({ file, function: name }) =>
				WAITING.test(name) || COMMUNICATION.test(file),
		);
}

/** Whether it is about to join a process group: by its stack, else by its hook. */
export function joins({ frames, processGroup }: RankEvidence): boolean {
	return frames.length === 0
		? processGroup === "joining"
		: frames.some(({ function: name }) => name === "init_process_group");
}

/** Whether its stack, its recorder or its hook shows that it waits for other ranks. */
export function waitsForOthers(one: RankEvidence): boolean {
	return (
		waits(one) === true ||
		joins(one) ||
		one.groups.some(({ unfinished }) => unfinished !== undefined)
	);
}

/**
 * Whether it does nothing but wait for other ranks, by its stack, and so can save nothing once one of them is dead.
 * C code may hold the interpreter: a handler of a signal does not run then.
 */
export function waitsInVain(one: RankEvidence): boolean {
	const isSaving = one.frames.some(
		({ file, function: name }) => SAVING.test(name) && !ACTIVATIONS.test(file),
	);
	return one.activity === "idle" && waits(one) === true && !isSaving;
}
