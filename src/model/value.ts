import { NAME, NAME_WORDS } from "../base/name.js";
import { amount, matching, oneOf, text, whole } from "../base/shape.js";

/** A store refuses larger values, so no record has one. */
const LONGEST_TEXT = 1_048_576;
/** The latest valid date. */
const LATEST_TIME_MS = 8.64e15;

export const version = oneOf(1);
export const count = whole(0, Number.MAX_SAFE_INTEGER);
/** Round numbers in keys have ten digits. */
const LATEST_ROUND = 999_999_999;
/** No node has more workers, and no run more nodes. */
const MOST = 1_000_000;

export const round = whole(0, LATEST_ROUND);
/** A node may claim the round after the latest one. */
export const claim = whole(0, LATEST_ROUND + 1);
export const size = whole(1, MOST);
export const positive = whole(1, Number.MAX_SAFE_INTEGER);
export const time = amount(0, LATEST_TIME_MS);
export const anyNumber = amount(-Number.MAX_VALUE, Number.MAX_VALUE);
export const step = amount(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
export const duration = amount(0, Number.MAX_SAFE_INTEGER);
/** The number of a start of the run is the time at which it began. */
export const instance = whole(0, LATEST_TIME_MS);
export const exitCode = whole(0, 255);
export const port = whole(0, 65_535);
export const words = text(LONGEST_TEXT);
export const name = matching(NAME, NAME_WORDS);
/** The name of a process, a plan or a failure. It is compared, and may become part of an environment or a line. */
export const token = matching(
	/^\P{Cc}{0,1024}$/u,
	"a string of at most 1024 characters without control characters",
);
