/**
 * Checkpoints that survive a kill at any moment, for trainers under elastic-run or started by hand. No packages; for ESM
 * and CommonJS.
 */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { systemClock } from "../base/clock.js";
import { ElasticRunError } from "../base/errors.js";
import { variables } from "../runtime/index.js";
import { listDirectory } from "./directory.js";
import { systemDisk } from "./disk.js";
import { channelNotices } from "./notices.js";
import { type CheckpointToken, highestToken } from "./order.js";
import type { CheckpointState } from "./state.js";
import { CheckpointStore } from "./store.js";

export { ElasticRunError } from "../base/errors.js";
export type { TypedArray } from "./arrays.js";
export {
	stepsBetweenCheckpoints,
	youngDalyIntervalMs,
} from "./cadence.js";
export type { LoadedCheckpoint } from "./load.js";
export type {
	CheckpointPosition,
	CheckpointToken,
} from "./order.js";
export type { CheckpointState } from "./state.js";
export type { CheckpointStore, SavedCheckpoint } from "./store.js";

export interface CheckpointOptions {
	/**
	 * The directory of the checkpoints, on a disk that survives the machine and that all nodes see. It is made at the first
	 * write.
	 */
	readonly directory: string;
	/**
	 * The round of this worker: pass a WorkerInfo or a WorkerEvent. Default: the round in which this process was started. A
	 * process that is kept over several rounds opens its checkpoints again in each.
	 */
	readonly token?: {
		readonly instance?: number | undefined;
		readonly round: number;
	};
	/** How many checkpoints are kept: 2 or more (default 2), so that a damaged one has a predecessor. */
	readonly keep?: number;
	/** Mean time between the failures of one worker, in milliseconds. Default: from the run's own history. */
	readonly meanTimeBetweenFailuresMs?: number;
	/** The number of workers, any of which may fail. Default: WORLD_SIZE, or 1. */
	readonly workers?: number;
	/** The most steps between two saves. Default: no limit. */
	readonly maxSteps?: number;
	/** Receives warnings. Default: Node's process warnings. */
	readonly onWarning?: (message: string) => void;
}

/**
 * Opens a directory of checkpoints for this worker in its round, without touching it yet. `State` is the trainer's type
 * of state. Throws an ElasticRunError CHECKPOINT for an invalid option.
 */
export function openCheckpoints<
	State extends CheckpointState = CheckpointState,
>(options: CheckpointOptions): CheckpointStore<State> {
	const directory = resolve(requireText(options.directory));
	const keep = requireInteger("keep", options.keep ?? 2, 2);
	const maxSteps = options.maxSteps ?? Number.POSITIVE_INFINITY;
	if (maxSteps !== Number.POSITIVE_INFINITY) {
		requireInteger("maxSteps", maxSteps, 1);
	}
	const launched = launchedToken(options.token);
	return new CheckpointStore<State>({
		directory,
		token: launched ?? tokenByHand(directory, options.token?.round ?? 1),
		tokenIsShared: launched !== undefined,
		keep,
		maxSteps,
		meanTimeBetweenInterruptionsMs: meanTimeFromOptions(options),
		clock: systemClock,
		disk: systemDisk,
		unique: randomBytes(8).toString("hex"),
		warn:
			options.onWarning ??
			((message) => process.emitWarning(message, "ElasticRunWarning")),
		onStep: () => undefined,
		notices: channelNotices,
	});
}

/** Undefined if no launcher names this start of the run. */
function launchedToken(
	given: CheckpointOptions["token"],
): CheckpointToken | undefined {
	const environment = variables();
	const instance =
		given?.instance || Number(environment.ELASTIC_RUN_INSTANCE || 0);
	if (instance === 0) return undefined;
	const round = given?.round ?? Number(environment.ELASTIC_RUN_ROUND || 1);
	return {
		instance: requireInteger("token.instance", instance, 1),
		round: requireInteger("token.round", round, 0),
	};
}

/** A start by hand counts as a new start of the run, newer than all before it. */
function tokenByHand(directory: string, round: number): CheckpointToken {
	const { files, claimTokens } = listDirectory(directory);
	const previous = highestToken([...files, ...claimTokens])?.instance ?? 0;
	return {
		instance: Math.max(previous + 1, systemClock.wallTime()),
		round: requireInteger("token.round", round, 0),
	};
}

function meanTimeFromOptions(options: CheckpointOptions): number | undefined {
	const { meanTimeBetweenFailuresMs: meanTimeMs } = options;
	if (meanTimeMs === undefined) return undefined;
	if (!(Number.isFinite(meanTimeMs) && meanTimeMs > 0)) {
		refuse("meanTimeBetweenFailuresMs", meanTimeMs, "a number above 0");
	}
	const workers = options.workers ?? Number(variables().WORLD_SIZE || 1);
	return meanTimeMs / requireInteger("workers", workers, 1);
}

function requireText(directory: string): string {
	if (typeof directory === "string" && directory !== "") return directory;
	return refuse("directory", directory, "the path of a directory");
}

function requireInteger(name: string, value: number, least: number): number {
	if (Number.isSafeInteger(value) && value >= least) return value;
	return refuse(name, value, `a whole number from ${least} up`);
}

function refuse(name: string, value: unknown, allowed: string): never {
	throw new ElasticRunError(
		"CHECKPOINT",
		`openCheckpoints: ${name} is ${JSON.stringify(value)}; give ${allowed}.`,
	);
}
