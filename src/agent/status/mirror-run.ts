import { join } from "node:path";
import { replaceFile } from "../../channel/message-file.js";
import type { Clock } from "../../clock.js";
import { messageOf } from "../../errors.js";
import { RunKeys } from "../../rendezvous/keys.js";
import type { Store, Watch } from "../../rendezvous/store.js";
import type { Logger } from "../logger.js";
import { encodeMirror, MIRROR_FILE } from "./mirror-file.js";

/** Changes so close to each other are written once, and never while workers are being started. */
const WRITE_AFTER_MS = 100;

export interface MirrorOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly log: Logger;
	readonly runId: string;
	/** The agent's own directory, which is removed with all that is in it when the agent ends. */
	readonly directory: string;
}

/**
 * Keeps a file in step with a store that no other process can reach, so that
 * commands find the run: its keys, as they would find them in etcd.
 */
export class RunMirror {
	private readonly prefix: string;
	private readonly watch: Watch;
	private cancelTimer: (() => void) | undefined;
	private closed = false;
	private hasFailed = false;

	constructor(private readonly options: MirrorOptions) {
		this.prefix = new RunKeys(options.runId).prefix;
		this.watch = options.store.watch([this.prefix], 0, () => this.writeLater());
	}

	close(): void {
		this.closed = true;
		this.watch.close();
		this.cancelTimer?.();
	}

	private writeLater(): void {
		const { clock } = this.options;
		this.cancelTimer ??= clock.wakeAt(clock.now() + WRITE_AFTER_MS, () => {
			this.cancelTimer = undefined;
			void this.writeNow();
		});
	}

	/** A run goes on though nobody can be told of it. */
	async writeNow(): Promise<void> {
		const { store, runId, directory, log } = this.options;
		try {
			const snapshot = await store.snapshot([this.prefix]);
			if (this.closed) return;
			const text = encodeMirror(runId, snapshot);
			replaceFile(join(directory, MIRROR_FILE), text, directory);
			this.hasFailed = false;
		} catch (error) {
			if (!this.hasFailed && !this.closed) {
				log.warn(`commands do not see this run's state: ${messageOf(error)}`);
			}
			this.hasFailed = true;
		}
	}
}
