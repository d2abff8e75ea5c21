import { statfs } from "node:fs/promises";
import type { Clock } from "../base/clock.js";
import { messageOf, systemErrorCode } from "../base/errors.js";

const LOOK_EVERY_MS = 10_000;
/** With less free space than this, workers may fill the disk before the next look, so it is checked more often. */
const SCARCE_BELOW_BYTES = 256 * 1024 * 1024;
const LOOK_AT_SCARCE_EVERY_MS = 1_000;
const FULL = new Set(["ENOSPC", "EDQUOT"]);
/** A file system with less space for ordinary users counts as full: after a few more lines writes fail. */
const FULL_BELOW_BYTES = 65_536;

export interface FreeSpaceOptions {
	readonly clock: Clock;
	readonly directory: string;
	readonly warn: (message: string) => void;
}

/** Warns once when the file system of the logs is full: the workers' writes fail, not the launcher's. */
export class FreeSpaceWatch {
	private readonly options: FreeSpaceOptions;
	private cancel: () => void = () => {};
	private isLooking = false;
	private isDone = false;
	private isScarce = false;
	private hasToldError = false;

	constructor(options: FreeSpaceOptions) {
		this.options = options;
		this.lookLater();
	}

	/** Checks now: a full disk may be why a worker has just failed. */
	look(): void {
		// The file system of an unreachable server answers late.
		if (this.isLooking || this.isDone) return;
		this.isLooking = true;
		void this.warnIfFull().finally(() => {
			this.isLooking = false;
		});
	}

	/** The launcher could not write a line of its log. So the workers' writes fail as well, or soon will. */
	failed(error: unknown): void {
		if (this.isDone) return;
		if (isFull(error)) this.warnFull();
		else if (!this.hasToldError) {
			this.hasToldError = true;
			this.options.warn(
				`the launcher's own log cannot be written in ${this.options.directory}, it is on stderr only: ${messageOf(error)}`,
			);
		}
	}

	/** The launcher could not write beside a worker's log. Unless the disk is full, nothing else is lost by that. */
	failedBeside(error: unknown): void {
		if (!this.isDone && isFull(error)) this.warnFull();
	}

	close(): void {
		this.isDone = true;
		this.cancel();
	}

	private lookLater(): void {
		const { clock } = this.options;
		const pauseMs = this.isScarce ? LOOK_AT_SCARCE_EVERY_MS : LOOK_EVERY_MS;
		this.cancel = clock.wakeAt(clock.now() + pauseMs, () => {
			this.look();
			this.lookLater();
		});
	}

	private async warnIfFull(): Promise<void> {
		const { directory } = this.options;
		const freeBytes = await statfs(directory).then(
			({ bavail, bsize }) => bavail * bsize,
			() => Number.POSITIVE_INFINITY,
		);
		this.isScarce = freeBytes < SCARCE_BELOW_BYTES;
		if (freeBytes < FULL_BELOW_BYTES && !this.isDone) this.warnFull();
	}

	private warnFull(): void {
		const { directory, warn } = this.options;
		this.close();
		warn(
			`the file system of the logs is full: what workers print is lost, and some fail of it; make room in ${directory}, or use another --log-dir`,
		);
	}
}

function isFull(error: unknown): boolean {
	return FULL.has(systemErrorCode(error) ?? "");
}
