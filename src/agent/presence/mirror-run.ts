import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import { replaceFile } from "../../channel/message-file.js";
import { encodeMirror, MIRROR_FILE } from "../../node-files/node-file.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import type { Store, Watch } from "../../rendezvous/store/store.js";

/** Changes so close together are written once, and never while workers are being started. */
const WRITE_AFTER_MS = 100;

export interface MirrorOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly log: Logger;
	readonly runId: string;
	/** The agent's directory, which is removed with all its content when the agent ends. */
	readonly directory: () => string;
}

/** Mirrors a store that no other process can reach into a file with the same keys as in etcd, so that commands find the run. */
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

	/** The run continues even if this fails. */
	async writeNow(): Promise<void> {
		const { store, runId, log } = this.options;
		const directory = this.options.directory();
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
