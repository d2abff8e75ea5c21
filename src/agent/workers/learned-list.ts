import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Cleanups } from "../../base/cleanups.js";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import { digestFile, type WorkerCommand } from "../../config/index.js";
import type { SharedModules } from "../../model/index.js";
import type { WorkerSpec } from "../../processes/index.js";
import {
	encodeRecord,
	informationAt,
	LEARNED,
	modulesOf,
	RunKeys,
	recordOfModules,
} from "../../rendezvous/index.js";
import type { Store, Watch } from "../../store/index.js";
import { readPythonArguments, type SharedImports } from "../../warm/index.js";
import type { OpenSpawner } from "./open-spawner.js";
import { type WorkerOwner, workerWithoutPlace } from "./worker-environment.js";

export interface LearnedListOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "debug">;
	readonly store: Pick<Store, "snapshot" | "transaction" | "watch">;
	/** It never rejects. */
	readonly key: Promise<string>;
	readonly imports: SharedImports;
	/** A worker as this node would start it. */
	readonly spec: WorkerSpec;
}

/** The store has failed: so long until the next try, in milliseconds. */
const AGAIN_MS = 10_000;

/** What workers of a command import, shared through the store: a node that waits for its place can import it ahead. */
export class LearnedList {
	private watch: Watch | undefined;
	private cancelAgain: () => void = () => {};
	private isClosed = false;
	private hasFailed = false;

	constructor(private readonly options: LearnedListOptions) {
		options.imports.onProven = (shared) => void this.publish(shared);
		void this.look();
	}

	close(): void {
		this.isClosed = true;
		this.rest();
	}

	private rest(): void {
		this.cancelAgain();
		this.watch?.close();
		this.watch = undefined;
	}

	/** Nothing waits for it, and it never rejects. */
	private async look(): Promise<void> {
		const { store, imports, spec, clock, log } = this.options;
		const key = await this.options.key;
		if (this.isClosed) return;
		if (!imports.isIgnorant) return this.rest();
		try {
			const { known, revision } = await this.read();
			if (this.isClosed) return;
			if (known !== undefined) {
				this.rest();
				imports.adopt(known, spec);
				return;
			}
			this.watch ??= store.watch([key], revision, () => void this.look());
		} catch (error) {
			if (!this.hasFailed) {
				log.info(
					`the run's list of modules to import ahead cannot be read: ${messageOf(error)}`,
				);
			}
			this.hasFailed = true;
			this.cancelAgain();
			this.cancelAgain = clock.wakeAt(clock.now() + AGAIN_MS, () => {
				void this.look();
			});
		}
	}

	/** Adds what the stored list lacks. */
	private async publish(shared: SharedModules): Promise<void> {
		const { store, log } = this.options;
		const key = await this.options.key;
		const record = recordOfModules(shared);
		if (record === undefined) return;
		try {
			const { known } = await this.read();
			const stored = new Set(known?.modules);
			if (shared.modules.every((name) => stored.has(name))) return;
			await store.transaction([], [{ put: key, value: encodeRecord(record) }]);
		} catch (error) {
			log.debug(`other nodes do not learn what to import: ${messageOf(error)}`);
		}
	}

	private async read(): Promise<{
		readonly known: SharedModules | undefined;
		readonly revision: number;
	}> {
		const { store, log } = this.options;
		const key = await this.options.key;
		const snapshot = await store.snapshot([key]);
		const warn = (message: string) => log.info(message);
		const record = informationAt(LEARNED, snapshot, key, warn);
		return { known: record && modulesOf(record), revision: snapshot.revision };
	}
}

/** A run of one node has nobody to ask. */
export function shareImports(
	{ store, place, ...owner }: SharingNode,
	{ imports }: Pick<OpenSpawner, "imports">,
): void {
	const { backend, runId, command } = owner.config;
	if (imports === undefined || backend === "memory") return;
	const keys = new RunKeys(runId);
	const list = new LearnedList({
		...place,
		store,
		imports,
		key: digestOfCommand(command).then((digest) => keys.learnedBy(digest)),
		spec: workerWithoutPlace(owner),
	});
	place.cleanups.add("closing the list of imports", () => list.close());
}

interface SharingNode extends WorkerOwner {
	readonly store: Store;
	readonly place: Pick<LearnedListOptions, "clock" | "log"> & {
		readonly cleanups: Cleanups;
	};
}

/**
 * Names what decides what a command imports: the interpreter, by the name of its real program (`python3.11`), and the
 * script, by its text; a script that cannot be read, a module or `-c`, by its words. The script's arguments seldom change
 * what it imports. Starts no process, and never rejects.
 */
export async function digestOfCommand({
	file,
	args,
	cwd,
}: Pick<WorkerCommand, "file" | "args" | "cwd">): Promise<string> {
	const { length } = readPythonArguments(args);
	const words = args.slice(0, length);
	const script = words.pop() ?? "";
	const named = [
		basename(await realpath(file).catch(() => file)),
		...words,
		(await digestFile(resolve(cwd, script))) ?? script,
	];
	return createHash("sha256")
		.update(JSON.stringify(named))
		.digest("hex")
		.slice(0, 32);
}
