import { readFileSync } from "node:fs";

/** The limit on open files if the system does not tell it. */
const USUAL_LIMIT = 256;
/** The divisor of the limit. The rest is for workers that start, the store and everything else. */
const PART = 4;

/** Limits the files held open for reading to a part of this process's limit. */
export class DescriptorBudget {
	private left: number;

	constructor(limit: number) {
		this.left = Math.floor(limit / PART);
	}

	/** Takes one; returns a function that gives it back, or undefined if none is left. */
	take(): (() => void) | undefined {
		if (this.left <= 0) return undefined;
		this.left -= 1;
		return () => {
			this.left += 1;
		};
	}
}

/** How many files this process may have open at once. */
export function openFilesLimit(): number {
	try {
		const limits = readFileSync("/proc/self/limits", "utf8");
		const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
		return soft === undefined ? USUAL_LIMIT : Number(soft);
	} catch {
		return USUAL_LIMIT;
	}
}
