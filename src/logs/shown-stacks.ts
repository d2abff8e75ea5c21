/** How an interpreter's line of a frame begins: it tells at once that most output has no stack. */
const MARKS = ['  File "', "    at "];
/** torch puts the rank before each line. */
const RANK = String.raw`(?:\[rank\d+\]: ?)?`;
/** The first frame as Python or Node prints it, and all indented lines below. */
const STACK = new RegExp(
	`^${RANK}[ \\t]+(?:File "[^"\\n]*", line \\d+|at [^\\n]*:\\d+:\\d+\\)?)[^\\n]*\\n(?:${RANK}[ \\t][^\\n]*\\n)*`,
	"gm",
);
const RANKS = new RegExp(`^${RANK}`, "gm");
/** A longer one is shown as it is. */
const LONGEST_STACK_BYTES = 32 * 1024;
const MOST_STACKS = 200;

interface Stack {
	readonly start: number;
	readonly end: number;
	readonly text: string;
}

/** Whole lines contain it, or end with its beginning. */
function stacksIn(lines: Buffer): readonly Stack[] {
	if (!MARKS.some((mark) => lines.includes(mark))) return [];
	// Each byte is one character.
	return [...lines.toString("latin1").matchAll(STACK)].flatMap(
		({ index: start, 0: all }) =>
			all.length > LONGEST_STACK_BYTES
				? []
				: [
						{
							start,
							end: start + all.length,
							text: all.replace(RANKS, ""),
						},
					],
	);
}

/** Where a stack begins that may go on in the next lines; else the end of these. */
export function endBeforeOpenStack(lines: Buffer): number {
	const last = stacksIn(lines).at(-1);
	return last?.end === lines.length ? last.start : lines.length;
}

/** The stacks that one of the launcher's streams has shown: all ranks, and the next round, may fail at the same place. */
export class ShownStacks {
	/** By its text, whose it was. */
	private readonly owners = new Map<string, string>();

	/**
	 * Says of each stack in these lines that was shown before only whose it was.
	 * @param who "rank 0, round 1"
	 */
	shorten(lines: Buffer, who: string): Buffer {
		const parts: Buffer[] = [];
		let at = 0;
		for (const { start, end, text } of stacksIn(lines)) {
			const owner = this.owners.get(text);
			if (owner === undefined) {
				if (this.owners.size < MOST_STACKS) this.owners.set(text, who);
				continue;
			}
			parts.push(
				lines.subarray(at, start),
				Buffer.from(`  … same as above (${owner})\n`),
			);
			at = end;
		}
		return at === 0 ? lines : Buffer.concat([...parts, lines.subarray(at)]);
	}
}
