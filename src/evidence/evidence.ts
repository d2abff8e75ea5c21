import type { Frame } from "../model/evidence.js";
import type { HangKind, Suspect } from "../model/hang.js";

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
