import {
	formatCount,
	formatDuration,
	formatRate,
} from "../../../base/units.js";
import type {
	RunStatus,
	WorkerStatus,
} from "../../../rendezvous/describe/run-status.js";
import {
	hangInWords,
	stragglerInWords,
} from "../../../rendezvous/describe/steps-words.js";
import { plain } from "./plain.js";
import type { Standing } from "./standing.js";

/** One sentence about the run's steps. */
export interface Health {
	readonly standing: Standing;
	readonly sentence: string;
}

/** A step that takes so many times the usual one, and at least so many seconds, is worth a sentence. */
const LATE_FACTOR = 10;
const LATE_SECONDS = 10;

/**
 * Whether the run makes steps, since when not, and who keeps it from them; the most important first.
 * @param elapsedMs since the agent said that
 */
export function healthOf(run: RunStatus, elapsedMs: number): readonly Health[] {
	switch (run.phase) {
		case "forming":
		case "waiting":
			return [busy(`No steps: ${awaited(run)}`)];
		case "leaving":
			return [busy("No steps: the workers of the last round are being ended")];
		case "running":
			return [
				...steps(run, elapsedMs),
				...(run.straggler
					? [busy(capital(stragglerInWords(run.straggler)))]
					: []),
			];
		case "ended":
		case "abandoned":
			return [];
		default:
			return run.phase satisfies never;
	}
}

function steps(
	{ nodes, hang }: RunStatus,
	elapsedMs: number,
): readonly Health[] {
	const workers = nodes.flatMap((node) => node.workers);
	const [slowest] = [...workers].sort((left, right) => left.step - right.step);
	if (slowest === undefined) return [];
	const newest = Math.min(...workers.map((one) => one.secondsSinceStep));
	const seconds = newest + elapsedMs / 1_000;
	const since = `No step for ${formatDuration(seconds * 1_000)}`;
	if (hang !== null) {
		return [
			{ standing: "bad", sentence: `${since}: ${plain(hangInWords(hang))}` },
		];
	}
	const { step, stepRate } = slowest;
	if (isLate(slowest, seconds)) {
		const usual = stepRate === null ? "" : `; usual are ${rate(stepRate)}`;
		return [busy(`${since}, the last was ${formatStep(step)}${usual}`)];
	}
	const often = stepRate === null ? "" : ` (${rate(stepRate)})`;
	const sentence = `Making steps: ${formatStep(step)}${often}`;
	return [{ standing: "good", sentence }];
}

function isLate({ stepRate }: WorkerStatus, seconds: number): boolean {
	const usual = stepRate === null || stepRate === 0 ? 0 : 1 / stepRate;
	return seconds > Math.max(LATE_SECONDS, LATE_FACTOR * usual);
}

function awaited({ waiting, round }: RunStatus): string {
	if (waiting === null || waiting.needed === 0) {
		return `round ${round + 1} is being formed`;
	}
	return `the run waits for ${formatCount(waiting.needed, "more node")}`;
}

/** "1,234". */
export function formatStep(step: number): string {
	return step.toLocaleString("en-US");
}

function rate(perSecond: number): string {
	return formatRate(perSecond)
		.replace("/s", " a second")
		.replace("/min", " a minute");
}

function busy(sentence: string): Health {
	return { standing: "busy", sentence };
}

function capital(words: string): string {
	return words.slice(0, 1).toUpperCase() + words.slice(1);
}
