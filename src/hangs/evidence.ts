import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import {
	hasEnded,
	readException,
	traceOf,
	traceWords,
	whereOf,
} from "../failures/index.js";
import { lastLines } from "../logs/index.js";
import type { RankEvidence, WorkerProgress } from "../model/index.js";
import type { NodeProcess } from "../steps/index.js";
import { type KernelView, readActivity } from "./activity.js";
import {
	askForStack,
	type Hook,
	hookPathsOf,
	readHook,
	type Stack,
} from "./hook.js";
import { askRecorder, type Recording } from "./recorder.js";

/** A node and its workers, for those that watch it. */
export interface WatchedNode {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "warn">;
	readonly nodeId: string;
	/** The workers' working directory: paths below it are shown without it. */
	readonly cwd: string;
	/** Of this node's logs. */
	readonly logDirectory: string;
	readonly processes: () => readonly NodeProcess[];
	/** How far they have come; only those that have made a step. */
	readonly progress: () => readonly WorkerProgress[];
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

type Place = Pick<WatchedNode, "clock" | "nodeId" | "cwd" | "progress">;

/** The part of the time that one worker may take to answer a signal or a socket, in milliseconds. */
const ANSWER_MS = 1_500;
const LAST_LINES = 10;

/**
 * Finds out what these workers do, in the order in which asking cannot hang itself: what the kernel says, their last
 * lines, their stacks by signal, and last their sockets. All workers at once, and none longer than `until` on the clock.
 * Kills nothing and never rejects.
 */
export async function takeEvidence(
	processes: readonly NodeProcess[],
	place: Place,
	until: number,
): Promise<readonly Testimony[]> {
	const { clock } = place;
	const steps = new Map(
		place.progress().map(({ localRank, step }) => [localRank, step]),
	);
	const hooks = processes.map((process) => readHook(hookPathsOf(process)));
	const kernel = await readActivity(
		processes.map(({ pid }, index) => ({
			pid,
			main: hooks[index]?.pid ?? pid,
		})),
		clock,
		until,
		// Without a descriptor that is free /proc cannot be listed.
	).catch(() => []);
	const answerBy = Math.min(until, clock.now() + ANSWER_MS);
	return Promise.all(
		processes.map(async (process, index): Promise<Testimony> => {
			const view = kernel[index];
			const lines = lastLinesOf(process);
			// A stopped process answers nothing, and a signal would wait for it to go on.
			const hook = view?.activity === "stopped" ? undefined : hooks[index];
			const answers = await answersOf(process, hook, clock, answerBy);
			const step = steps.get(process.localRank);
			const processGroup = hooks[index]?.processGroup;
			const known = { step, processGroup };
			const evidence = evidenceOf(process, known, view, answers, place);
			return { evidence, ...answers, lastLines: lines };
		}),
	);
}

async function answersOf(
	process: NodeProcess,
	hook: Hook | undefined,
	clock: Clock,
	until: number,
): Promise<Pick<Testimony, "stack" | "recording">> {
	if (hook === undefined) return { stack: undefined, recording: undefined };
	const stack = await askForStack(hook, hookPathsOf(process), clock, until);
	const { torchSocket } = hook;
	const recording =
		torchSocket === undefined
			? undefined
			: await askRecorder(torchSocket, clock, until);
	return { stack, recording };
}

function evidenceOf(
	process: NodeProcess,
	known: Pick<RankEvidence, "step" | "processGroup">,
	view: KernelView | undefined,
	{ stack, recording }: Pick<Testimony, "stack" | "recording">,
	{ nodeId, cwd }: Place,
): RankEvidence {
	const { rank, localRank, pid } = process;
	const raised = readException(hookPathsOf(process));
	const isEnding = raised?.ends && !hasEnded(raised);
	const frames = stack?.frames ?? [];
	return {
		rank,
		localRank,
		nodeId,
		pid,
		...known,
		frames,
		activity: view?.activity ?? "idle",
		waitChannel: view?.waitChannel,
		threads: view?.threads,
		where: whereOf(frames, cwd),
		groups: recording?.groups ?? [],
		raised: isEnding ? traceWords(traceOf(raised, cwd)) : undefined,
	};
}

function lastLinesOf({ logs }: NodeProcess): Testimony["lastLines"] {
	return (["stdout", "stderr"] as const).flatMap((name) => {
		const file = logs?.[name]?.file;
		if (file === undefined) return [];
		return [{ name, lines: lastLines(file, { count: LAST_LINES }) }];
	});
}
