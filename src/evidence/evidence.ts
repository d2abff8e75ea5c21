import type {
	HangKind,
	Suspect,
} from "../rendezvous/records/progress-record.js";

/** One frame of a stack. */
export interface Frame {
	/** As the worker's interpreter names it. */
	readonly file: string;
	readonly line: number;
	readonly function: string;
}

/** One collective operation, as a worker's flight recorder has it. */
export interface Collective {
	/** Its number in its process group. */
	readonly sequence: number;
	/** "gloo:all_reduce". */
	readonly operation: string;
	/** "[4] Float". */
	readonly shape: string;
}

/** A worker's place in the collectives of one process group. */
export interface GroupProgress {
	readonly group: string;
	/** The ranks of the group; undefined if the recorder does not tell. */
	readonly ranks: readonly number[] | undefined;
	/** The newest that it has entered; 0 if none. */
	readonly entered: number;
	/** The oldest that it has entered and that is not over; undefined if all are. */
	readonly unfinished: Collective | undefined;
}

/**
 * What a process does.
 * `stopped`: SIGSTOP or a debugger holds it; `busy`: its processor time, or what it reads and writes, grows; `blocked`:
 * kernel state D, which no signal ends, and nothing grows; `idle`: nothing of that; `gone`: there is no such process.
 */
export type Activity = "stopped" | "blocked" | "busy" | "idle" | "gone";

/** What is known of one worker that makes no step. */
export interface RankEvidence {
	readonly rank: number;
	readonly localRank: number;
	readonly nodeId: string;
	readonly pid: number | null;
	readonly activity: Activity;
	/** The kernel's function in which it waits; undefined if unknown. */
	readonly waitChannel: string | undefined;
	readonly threads: number | undefined;
	/** Its last step in this round; undefined if it has made none. */
	readonly step: number | undefined;
	/** The frames of its main thread, the innermost first; empty if unknown. */
	readonly frames: readonly Frame[];
	/** The innermost frame of the user's own code: "train.py:41 in load_batch"; undefined if no stack is known. */
	readonly where: string | undefined;
	/** By process group; empty without a recorder. */
	readonly groups: readonly GroupProgress[];
}

export type { Suspect };

/** The content of `hang.json`, and what all nodes agree on. */
export interface Verdict {
	readonly kind: HangKind;
	/** Empty if nothing that is known points to anybody. */
	readonly suspects: readonly Suspect[];
	/** The ranks that only wait for others. */
	readonly waiting: readonly number[];
	/** Why, in one line. */
	readonly reason: string;
}

/** The place of a frame in words. */
export function placeOf({ file, line, function: name }: Frame): string {
	return `${file}:${line} in ${name}`;
}
