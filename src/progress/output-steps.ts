import type { HeldFile } from "../logs/held-file.js";

/** More than this of what a worker wrote since the last look is not searched: its last lines have the newest step. */
const MOST_BYTES = 64 * 1024;
/** Progress bars return to the begin of their line. */
const LINE_ENDS = [0x0a, 0x0d];

/** The step numbers in what was written since the last look: two of them tell that a worker counts. */
export interface FoundSteps {
	readonly first: number;
	readonly last: number;
}

/** Finds step numbers in what a worker writes. Each look costs one `stat` if nothing was written. */
export class OutputSteps {
	private readonly pattern: RegExp;
	private readUntil: number;

	/** @param pattern its first group is the number */
	constructor(
		pattern: RegExp,
		private readonly file: HeldFile,
		from: number,
	) {
		this.pattern = new RegExp(pattern.source, "gi");
		this.readUntil = from;
	}

	/** Undefined if there is none in the lines written since the last look. Never throws. */
	read(): FoundSteps | undefined {
		const size = this.size();
		if (size === this.readUntil) return undefined;
		const section = this.file.section(this.readUntil, MOST_BYTES);
		if (section === undefined) return undefined;
		const { bytes, start } = section;
		const end = Math.max(...LINE_ENDS.map((one) => bytes.lastIndexOf(one)));
		// The rest of the last line may follow; a line without end is read as it is.
		if (end < 0 && bytes.length < MOST_BYTES) return undefined;
		const length = end < 0 ? bytes.length : end + 1;
		this.readUntil = start + length;
		return this.stepsIn(bytes.toString("utf8", 0, length));
	}

	private size(): number {
		try {
			return this.file.look().size;
		} catch {
			return this.readUntil;
		}
	}

	private stepsIn(text: string): FoundSteps | undefined {
		const steps = [...text.matchAll(this.pattern)]
			.map(([, digits = ""]) => Number.parseInt(digits, 10))
			.filter(Number.isSafeInteger);
		const [first, last] = [steps.at(0), steps.at(-1)];
		return first === undefined || last === undefined
			? undefined
			: { first, last };
	}
}
