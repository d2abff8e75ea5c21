import type { HeldFile } from "../logs/held-file.js";

/** More than this of what a worker wrote since the last look is not searched: its last lines have the newest step. */
const MOST_BYTES = 64 * 1024;
/** Progress bars return to the begin of their line. */
const LINE_ENDS = [0x0a, 0x0d];

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

	/** The last step number in the lines written since the last look; undefined if there is none. Never throws. */
	read(): number | undefined {
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
		return this.lastStep(bytes.toString("utf8", 0, length));
	}

	private size(): number {
		try {
			return this.file.look().size;
		} catch {
			return this.readUntil;
		}
	}

	private lastStep(text: string): number | undefined {
		let step: number | undefined;
		for (const [, digits = ""] of text.matchAll(this.pattern)) {
			const found = Number.parseInt(digits, 10);
			if (Number.isSafeInteger(found)) step = found;
		}
		return step;
	}
}
