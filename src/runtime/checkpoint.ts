/**
 * Checkpoints that outlive a kill at any moment, for trainers that run under
 * elastic-run or by hand. No packages; for ESM and CommonJS alike.
 */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { systemClock } from "../clock.js";
import { ElasticRunError } from "../errors.js";
import { listDirectory } from "./checkpoint-directory.js";
import { type CheckpointToken, highestToken } from "./checkpoint-order.js";
import type { CheckpointState } from "./checkpoint-state.js";
import { CheckpointStore } from "./checkpoint-store.js";
import { variables } from "./environment.js";

export { ElasticRunError } from "../errors.js";
export type { TypedArray } from "./checkpoint-arrays.js";
export {
	stepsBetweenCheckpoints,
	youngDalyIntervalMs,
} from "./checkpoint-cadence.js";
export type { LoadedCheckpoint } from "./checkpoint-load.js";
export type {
	CheckpointPosition,
	CheckpointToken,
} from "./checkpoint-order.js";
export type { CheckpointState } from "./checkpoint-state.js";
export type { CheckpointStore, SavedCheckpoint } from "./checkpoint-store.js";

export interface CheckpointOptions {
	/** Where checkpoints are kept: on a disk that outlives the machine, seen by all nodes. Made when it is first written to. */
	readonly directory: string;
	/**
	 * The round that this worker is in: a WorkerInfo or a WorkerEvent will do.
	 * Default: the round that this process was started in. A process that is
	 * kept over several rounds opens its checkpoints anew in each.
	 */
	readonly token?: {
		readonly instance?: number | undefined;
		readonly round: number;
	};
	/** How many checkpoints are kept: 2 or more (default 2), so that a damaged one has a predecessor. */
	readonly keep?: number;
	/** Mean time between the failures of one worker, in milliseconds. Default: from the run's own history. */
	readonly meanTimeBetweenFailuresMs?: number;
	/** How many workers there are, any of which may fail. Default: WORLD_SIZE, or 1. */
	readonly workers?: number;
	/** The most steps between two saves. Default: no bound. */
	readonly maxSteps?: number;
	/** Takes warnings. Default: Node's process warnings. */
	readonly onWarning?: (message: string) => void;
}

/**
 * Opens a directory of checkpoints for this worker in its round; touches
 * nothing yet. `State` is the trainer's own type of state. Throws an
 * ElasticRunError CHECKPOINT for an option that makes no sense.
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
		unique: randomBytes(8).toString("hex"),
		warn:
			options.onWarning ??
			((message) => process.emitWarning(message, "ElasticRunWarning")),
		onStep: () => undefined,
	});
}

/** Undefined where no launcher names this start of the run. */
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

/** A start by hand counts as a start of the run of its own, newer than all before it. */
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
