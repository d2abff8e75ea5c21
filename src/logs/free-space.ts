import { randomBytes } from "node:crypto";
import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import { messageOf, systemErrorCode } from "../base/errors.js";

const LOOK_EVERY_MS = 10_000;
/** With less free space than this, workers may fill the disk before the next look, so it is checked more often. */
const SCARCE_BELOW_BYTES = 256 * 1024 * 1024;
const LOOK_AT_SCARCE_EVERY_MS = 1_000;
const FULL = new Set(["ENOSPC", "EDQUOT"]);
/** A file system without so much space counts as full: after a few more lines writes fail. */
const FULL_BELOW_BYTES = 65_536;
/** It has room again only with more than that, so that a disk at the limit is not told every second. */
const ROOM_FROM_BYTES = 2 * FULL_BELOW_BYTES;

export interface FreeSpaceOptions {
	readonly clock: Clock;
	readonly directory: string;
	/** What it holds, such as "the logs". */
	readonly holds: string;
	/** What is lost while it is full, and another place for it. */
	readonly loss: string;
	readonly otherPlace: string;
	readonly log: {
		info(message: string): void;
		warn(message: string): void;
	};
}

/** Watches for a full file system, on which the workers' writes fail and not only the launcher's. Says so once each time. */
export class FreeSpaceWatch {
	private readonly options: FreeSpaceOptions;
	private cancel: () => void = () => {};
	private looking: Promise<void> | undefined;
	private isClosed = false;
	/** Until the first look it may be. */
	private isScarce = true;
	private isFull = false;
	private lastFullAt: number | undefined;
	private hasToldError = false;

	constructor(options: FreeSpaceOptions) {
		this.options = options;
		this.lookLater();
	}

	/** When it was last found full, on the clock; undefined: never. */
	get fullAt(): number | undefined {
		return this.lastFullAt;
	}

	/**
	 * Checks now. Never rejects; the file system of an unreachable server answers late.
	 * @param byWriting also where the file system tells free space: it may not be this user's (a quota)
	 */
	look(byWriting = false): Promise<void> {
		const { looking } = this;
		if (looking !== undefined) {
			return byWriting ? looking.then(() => this.look(true)) : looking;
		}
		if (this.isClosed) return Promise.resolve();
		this.looking = this.check(byWriting).finally(() => {
			this.looking = undefined;
		});
		return this.looking;
	}

	/** The launcher could not write a line of its log. So the workers' writes fail as well, or soon will. */
	failed(error: unknown): void {
		if (this.isClosed) return;
		if (isNoRoom(error)) this.noteFull();
		else if (!this.hasToldError) {
			this.hasToldError = true;
			this.options.log.warn(
				`the launcher's own log cannot be written in ${this.options.directory}, it is on stderr only: ${messageOf(error)}`,
			);
		}
	}

	/** The launcher could not write beside a worker's log. Unless the disk is full, nothing else is lost by that. */
	failedBeside(error: unknown): void {
		if (!this.isClosed && isNoRoom(error)) this.noteFull();
	}

	close(): void {
		this.isClosed = true;
		this.cancel();
	}

	private lookLater(): void {
		const { clock } = this.options;
		const isNear = this.isScarce || this.isFull;
		const pauseMs = isNear ? LOOK_AT_SCARCE_EVERY_MS : LOOK_EVERY_MS;
		this.cancel = clock.wakeAt(clock.now() + pauseMs, () => {
			void this.look();
			this.lookLater();
		});
	}

	private async check(byWriting: boolean): Promise<void> {
		const { directory } = this.options;
		const freeBytes = await statfs(directory).then(
			({ bavail, bsize }) => bavail * bsize,
			() => Number.POSITIVE_INFINITY,
		);
		this.isScarce = freeBytes < SCARCE_BELOW_BYTES;
		const isInDoubt = byWriting || this.isFull || freeBytes < FULL_BELOW_BYTES;
		// What is free for ordinary users may be less, or more, than what is free for this one.
		const canWrite = !isInDoubt || (await hasRoom(directory));
		if (this.isClosed) return;
		if (!canWrite) this.noteFull();
		else if (this.isFull && freeBytes >= ROOM_FROM_BYTES) this.noteRoom();
	}

	private noteFull(): void {
		const { clock, directory, holds, loss, otherPlace, log } = this.options;
		this.lastFullAt = clock.now();
		if (this.isFull) return;
		// Before the warning, whose own line may not be written either.
		this.isFull = true;
		this.cancel();
		this.lookLater();
		log.warn(
			`the file system of ${holds} is full: ${loss}; make room in ${directory}, or use another ${otherPlace}`,
		);
	}

	private noteRoom(): void {
		const { clock, holds, log } = this.options;
		this.lastFullAt = clock.now();
		this.isFull = false;
		log.info(`the file system of ${holds} has room again`);
	}
}

function isNoRoom(error: unknown): boolean {
	return FULL.has(systemErrorCode(error) ?? "");
}

/** Whether so much can be written. Nothing compresses what is random. */
async function hasRoom(directory: string): Promise<boolean> {
	const file = join(directory, `.room-${process.pid}`);
	const bytes = randomBytes(FULL_BELOW_BYTES);
	try {
		await writeFile(file, bytes, { flag: "wx", mode: 0o600 });
		return true;
	} catch (error) {
		return !isNoRoom(error);
	} finally {
		await rm(file, { force: true }).catch(() => {});
	}
}
