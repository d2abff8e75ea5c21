/**
 * Which checkpoint is the newest, and who may write. Pure.
 *
 * Fencing. A worker that was cut off does not know that the run went on
 * without it, and may save at any moment. A lock cannot stop it: whoever takes
 * the lock of a dead owner cannot tell it from a frozen one, which will wake
 * and write. So nothing is ever written over something newer; what each
 * writer does carries its token (instance, round), and readers decide:
 *
 * 1. A checkpoint's name holds (instance, round, step), compared in that
 *    order. Two rounds never share a name: a stale writer cannot overwrite a
 *    newer round's file, nor come before it, however many steps it has done.
 * 2. A stale writer could still slip in between a new round's load and that
 *    round's first save, and be loaded by a slower worker of the new round,
 *    or by the round after. So the first worker of a round that has loaded
 *    writes a claim: this round began from that file. Whatever older rounds
 *    add behind that file is set aside; everybody in the round loads the same.
 * 3. Before a save and again after it, a writer looks for anything of a higher
 *    token, and is refused. It deletes only what is not above its own token.
 *
 * What remains: a save that was renamed into place in the same instant in which
 * the next round claimed an older file is set aside. It was the save of a
 * worker that the run had already left behind.
 */

/** Identifies one start of a run and a round of it. They are compared in this order; the higher one may write. */
export interface CheckpointToken {
	/** Names one start of the run. */
	readonly instance: number;
	readonly round: number;
}

/** A checkpoint's place in a run's history. */
export interface CheckpointPosition extends CheckpointToken {
	/** Steps completed when it was saved. */
	readonly step: number;
}

/** What a round began from. */
export interface RoundClaim extends CheckpointToken {
	/** The file that it loaded, null if there was none, undefined if the claim is unreadable. */
	readonly base: string | null | undefined;
	/** Milliseconds since 1970. */
	readonly claimedAt: number;
}

export interface CheckpointFile extends CheckpointPosition {
	readonly name: string;
}

const CHECKPOINT = /^checkpoint-(\d{16})-(\d{10})-(\d{16})\.ckpt$/;
const CLAIM = /^round-(\d{16})-(\d{10})\.json$/;
const TEMPORARY = /^\.(.+)\.[0-9a-f]+\.tmp$/;

export function checkpointFileName(position: CheckpointPosition): string {
	return `checkpoint-${pad(position.instance, 16)}-${pad(position.round, 10)}-${pad(position.step, 16)}.ckpt`;
}

export function claimFileName(token: CheckpointToken): string {
	return `round-${pad(token.instance, 16)}-${pad(token.round, 10)}.json`;
}

/** A name that no other writer uses; `unique` are hexadecimal digits. */
export function temporaryFileName(name: string, unique: string): string {
	return `.${name}.${unique}.tmp`;
}

/** The checkpoint that a file name means; undefined for any other file. */
export function parseCheckpointFileName(
	name: string,
): CheckpointFile | undefined {
	const match = CHECKPOINT.exec(name);
	if (match === null) return undefined;
	const [, instance, round, step] = match;
	return {
		name,
		instance: Number(instance),
		round: Number(round),
		step: Number(step),
	};
}

/** The token in the name of a claim; undefined for any other file. */
export function parseClaimFileName(name: string): CheckpointToken | undefined {
	const match = CLAIM.exec(name);
	if (match === null) return undefined;
	const [, instance, round] = match;
	return { instance: Number(instance), round: Number(round) };
}

/** The token of a temporary file's writer; undefined for any other file. */
export function parseTemporaryFileName(
	name: string,
): CheckpointToken | undefined {
	const target = TEMPORARY.exec(name)?.[1];
	if (target === undefined) return undefined;
	return parseCheckpointFileName(target) ?? parseClaimFileName(target);
}

/** Negative if `a` is older than `b`, 0 if they are equal. */
export function compareTokens(a: CheckpointToken, b: CheckpointToken): number {
	return a.instance - b.instance || a.round - b.round;
}

/** Negative if `a` is older than `b`, 0 if they are equal. */
export function comparePositions(
	a: CheckpointPosition,
	b: CheckpointPosition,
): number {
	return compareTokens(a, b) || a.step - b.step;
}

/** The highest of the tokens; undefined if there are none. */
export function highestToken(
	tokens: readonly CheckpointToken[],
): CheckpointToken | undefined {
	return tokens.toSorted(compareTokens).at(-1);
}

/** The checkpoints in the order of tries, newest first, without those that a stale writer added. */
export function loadOrder(
	files: readonly CheckpointFile[],
	claims: readonly RoundClaim[],
): CheckpointFile[] {
	return files
		.filter((file) => !claims.some((claim) => setsAside(claim, file, files)))
		.toSorted((a, b) => comparePositions(b, a));
}

/** The files to delete after a save: all but the newest `keep` usable ones, and none above the writer's token. */
export function filesToDelete(
	files: readonly CheckpointFile[],
	claims: readonly RoundClaim[],
	keep: number,
	writer: CheckpointToken,
	damaged: ReadonlySet<string>,
): CheckpointFile[] {
	const ofUse = loadOrder(files, claims).filter(
		(file) => !damaged.has(file.name),
	);
	const kept = new Set(ofUse.slice(0, keep).map((file) => file.name));
	if (kept.size < keep) return [];
	return files.filter(
		(file) => !kept.has(file.name) && compareTokens(file, writer) <= 0,
	);
}

/** A claim on a missing file no longer counts: an old round's state is better than none. */
function setsAside(
	claim: RoundClaim,
	file: CheckpointFile,
	files: readonly CheckpointFile[],
): boolean {
	if (claim.base === undefined || compareTokens(file, claim) >= 0) return false;
	if (claim.base === null) return true;
	const base = files.find((candidate) => candidate.name === claim.base);
	return base !== undefined && comparePositions(file, base) > 0;
}

function pad(value: number, digits: number): string {
	return String(value).padStart(digits, "0");
}
