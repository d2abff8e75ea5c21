import type { Logger } from "../base/logger.js";

/** Warns of what happens to workers' files, of each kind once in total: it often happens to all files together. */
export class FileWarnings {
	private readonly told = new Set<string>();

	constructor(private readonly logger: Pick<Logger, "warn">) {}

	away(path: string): void {
		this.once(
			"away",
			`${path} was removed or renamed while its worker runs: its lines are shown here still, but they are in no file of that name; a log that is to be rotated must be copied and emptied (copytruncate)`,
		);
	}

	emptied(path: string): void {
		this.once(
			"emptied",
			`${path} was emptied while its worker runs: what it held is in it no more. If no rotation of logs did that, a command opens it by name: "> /dev/stderr" empties the file that stderr goes to (as "> /dev/stdout" and "tee /dev/stderr" do); ">&2", ">> /dev/stderr" and "tee -a /dev/stderr" append`,
		);
	}

	private once(kind: string, message: string): void {
		if (this.told.has(kind)) return;
		this.told.add(kind);
		this.logger.warn(message);
	}
}
