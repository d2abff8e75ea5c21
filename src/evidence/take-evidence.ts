import type { Clock } from "../base/clock.js";
import { channelPaths, hookPaths } from "../channel/layout.js";
import type { HeldFile } from "../logs/held-file.js";
import { lastLines } from "../logs/last-lines.js";
import type { RankEvidence } from "../model/evidence.js";
import { askForStack, readHook, type Stack } from "./hook.js";
import { whereOf } from "./parse-stack.js";
import { type KernelView, readActivity } from "./read-activity.js";
import { askRecorder, type Recording } from "./recorder.js";

/** A worker whose evidence is wanted. */
export interface Witness {
	readonly rank: number;
	readonly localRank: number;
	readonly pid: number;
	/** Its channel directory. */
	readonly directory: string;
	/** Its redirected streams, by name. */
	readonly outputs: readonly {
		readonly name: string;
		readonly file: HeldFile;
	}[];
	readonly step: number | undefined;
}

/** All that was found out about one worker. */
export interface Testimony {
	readonly evidence: RankEvidence;
	readonly stack: Stack | undefined;
	readonly recording: Recording | undefined;
	/** By stream. */
	readonly lastLines: readonly {
		readonly name: string;
		readonly lines: readonly string[];
	}[];
}

export interface TakeOptions {
	readonly clock: Clock;
	readonly nodeId: string;
	/** The workers' working directory: paths below it are shown without it. */
	readonly cwd: string;
	/** By when all must be there, on the clock. */
	readonly until: number;
}

/** The part of the time that one worker may take to answer a signal or a socket, in milliseconds. */
const ANSWER_MS = 1_500;

/**
 * Finds out what these workers do, in the order in which asking cannot hang itself: what the kernel says, their last
 * lines, their stacks by signal, and last their sockets. All workers at once, and none longer than `until`. Kills nothing
 * and never rejects.
 */
export async function takeEvidence(
	witnesses: readonly Witness[],
	{ clock, nodeId, cwd, until }: TakeOptions,
): Promise<readonly Testimony[]> {
	const hooks = witnesses.map(({ directory }) =>
		readHook(hookPathsOf(directory)),
	);
	const kernel = await readActivity(
		witnesses.map(({ pid }, index) => ({
			pid,
			main: hooks[index]?.pid ?? pid,
		})),
		clock,
		until,
		// Without a descriptor that is free /proc cannot be listed.
	).catch(() => []);
	const answerBy = Math.min(until, clock.now() + ANSWER_MS);
	return Promise.all(
		witnesses.map(async (witness, index): Promise<Testimony> => {
			const { directory, outputs } = witness;
			const view = kernel[index];
			const hook = hooks[index];
			// A stopped process answers nothing, and a signal would wait for it to go on.
			const canAnswer = hook !== undefined && view?.activity !== "stopped";
			const lines = outputs.map(({ name, file }) => ({
				name,
				lines: lastLines(file, { count: 10 }),
			}));
			const paths = hookPathsOf(directory);
			const stack = canAnswer
				? await askForStack(hook, paths, clock, answerBy)
				: undefined;
			const socket = canAnswer ? hook.torchSocket : undefined;
			const recording =
				socket === undefined
					? undefined
					: await askRecorder(socket, clock, answerBy);
			const known = { view, stack, recording, nodeId, cwd };
			const evidence = evidenceOf(witness, known);
			return { evidence, stack, recording, lastLines: lines };
		}),
	);
}

function evidenceOf(
	{ rank, localRank, pid, step }: Witness,
	known: Pick<Testimony, "stack" | "recording"> & {
		readonly view: KernelView | undefined;
		readonly nodeId: string;
		readonly cwd: string;
	},
): RankEvidence {
	const { view, stack, recording, nodeId, cwd } = known;
	const frames = stack?.frames ?? [];
	return {
		...{ rank, localRank, nodeId, pid, step, frames },
		activity: view?.activity ?? "idle",
		waitChannel: view?.waitChannel,
		threads: view?.threads,
		where: whereOf(frames, cwd),
		groups: recording?.groups ?? [],
	};
}

function hookPathsOf(directory: string) {
	return hookPaths(channelPaths(directory).hook);
}
