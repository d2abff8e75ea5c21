import { formatCount, formatDuration, formatRate } from "../../base/units.js";
import {
	behindInWords,
	hangInWords,
	living,
	type RunDocument,
	stepNoun,
	stragglerInWords,
	type WorkerStatus,
} from "../../status/index.js";
import type { Standing } from "./parts.js";
import { capital, plain } from "./words.js";

/** One sentence about the run's steps. */
export type Health = readonly [standing: Standing, sentence: string];

/** A step that takes so many times the usual one, and at least so many seconds, is worth a sentence. */
const LATE_FACTOR = 10;
const LATE_SECONDS = 10;

/**
 * Whether the run makes steps, and since when not; null if there is nothing to say.
 * @param elapsedMs since the agent said that
 */
export function healthOf(run: RunDocument, elapsedMs: number): Health | null {
	switch (run.phase) {
		case "forming":
		case "waiting":
			return ["busy", `No steps: ${awaited(run)}`];
		case "leaving":
			return [
				"busy",
				"No steps: the workers of the last round are being ended",
			];
		case "running":
			return progress(run, elapsedMs);
		case "ended":
		case "abandoned":
			return null;
		default:
			return run.phase satisfies never;
	}
}

/** Who keeps a running run from faster steps; null if nobody stands out. */
export function stragglerOf({ phase, straggler }: RunDocument): Health | null {
	if (phase !== "running" || straggler === null) return null;
	return ["busy", capital(stragglerInWords(straggler))];
}

function awaited({ waiting, round }: RunDocument): string {
	if (waiting === null || waiting.needed === 0) {
		return `round ${round + 1} is being formed`;
	}
	return `the run waits for ${formatCount(waiting.needed, "more node")}`;
}

function progress(run: RunDocument, elapsedMs: number): Health | null {
	const workers = living(run.nodes.flatMap((node) => node.workers));
	const [slowest] = workers.toSorted((left, right) => left.step - right.step);
	if (slowest === undefined) return null;
	const newest = Math.min(...workers.map((one) => one.secondsSinceStep));
	const seconds = newest + elapsedMs / 1_000;
	const since = `No step for ${formatDuration(seconds * 1_000)}`;
	if (run.hang !== null) {
		return ["bad", `${since}: ${plain(hangInWords(run.hang))}`];
	}
	const [behind] = behindInWords(run.behind ?? [], elapsedMs);
	if (behind !== undefined) {
		const more = (run.behind?.length ?? 0) - 1;
		const others = more > 0 ? ` (and ${formatCount(more, "more rank")})` : "";
		return ["bad", `${capital(plain(behind))}${others}`];
	}
	const step = formatStep(slowest.step);
	const rate = rateOf(slowest);
	if (isLate(slowest, seconds)) {
		const usual = rate === "" ? "" : `; usual are ${rate}`;
		return ["busy", `${since}, the last was ${step}${usual}`];
	}
	const noun = stepNoun([slowest.stepSource]);
	return ["good", `Making ${noun}s: ${step}${rate === "" ? "" : ` (${rate})`}`];
}

function isLate({ stepRate }: WorkerStatus, seconds: number): boolean {
	const usual = stepRate ? 1 / stepRate : 0;
	return seconds > Math.max(LATE_SECONDS, LATE_FACTOR * usual);
}

/** "1,234". */
export function formatStep(step: number): string {
	return step.toLocaleString("en-US");
}

/** "2.5 a second"; empty if unknown. */
function rateOf({ stepRate }: WorkerStatus): string {
	if (stepRate === null) return "";
	const rate = formatRate(stepRate);
	return rate.replace("/s", " a second").replace("/min", " a minute");
}
