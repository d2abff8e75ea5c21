import { statfs } from "node:fs/promises";
import type { Clock } from "../../clock.js";

const LOOK_EVERY_MS = 10_000;
/** A file system with less room for ordinary users is full: a few lines more, and a write fails. */
const FULL_BELOW_BYTES = 65_536;

export interface FreeSpaceOptions {
	readonly clock: Clock;
	readonly directory: string;
	readonly warn: (message: string) => void;
}

/** Says once when the file system of the logs is full: whose writes fail there is not this launcher but its workers. */
export class FreeSpaceWatch {
	readonly #options: FreeSpaceOptions;
	#cancel: () => void = () => {};
	#isLooking = false;
	#isDone = false;

	constructor(options: FreeSpaceOptions) {
		this.#options = options;
		this.#lookLater();
	}

	/** Looks now, out of turn: after a worker has failed, which may be why. */
	look(): void {
		// The file system of a server that is gone answers late.
		if (this.#isLooking || this.#isDone) return;
		this.#isLooking = true;
		void this.#warnIfFull().finally(() => {
			this.#isLooking = false;
		});
	}

	close(): void {
		this.#isDone = true;
		this.#cancel();
	}

	#lookLater(): void {
		const { clock } = this.#options;
		this.#cancel = clock.wakeAt(clock.now() + LOOK_EVERY_MS, () => {
			this.look();
			this.#lookLater();
		});
	}

	async #warnIfFull(): Promise<void> {
		const { directory, warn } = this.#options;
		const freeBytes = await statfs(directory).then(
			({ bavail, bsize }) => bavail * bsize,
			() => Number.POSITIVE_INFINITY,
		);
		if (freeBytes >= FULL_BELOW_BYTES || this.#isDone) return;
		this.close();
		warn(
			`the file system of the logs is full: what workers print is lost, and some fail of it; make room in ${directory}, or use another --log-dir`,
		);
	}
}
