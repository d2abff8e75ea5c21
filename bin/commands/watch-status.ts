import { EXIT_CODES } from "../../src/base/errors.js";
import { timeOfDay } from "../../src/base/local-time.js";
import {
	fitLines,
	isScreen,
	plainJson,
	redrawn,
} from "../../src/logs/index.js";
import {
	findKeptRun,
	fingerprint,
	watchLine,
	watchRuns,
} from "../../src/operate/index.js";
import {
	type FoundRun,
	formatRuns,
	formatStatus,
} from "../../src/status/index.js";
import { print, say } from "../console.js";
import { type AskedCommand, placesInWords } from "../run-command.js";

/** The rows of a terminal that does not report its size. */
const USUAL_ROWS = 24;

/** Shows the state of runs whenever it changes, until the named run has ended. Returns the exit code. */
export async function watchStatus(asked: AskedCommand): Promise<number> {
	const { runId, places, searcher, isJson } = asked;
	const show = viewFor(asked);
	let seen: FoundRun | undefined;
	let isAwaited = false;
	let hasReader = true;
	process.stdout.on("error", () => {
		hasReader = false;
	});
	await watchRuns({
		...{ runId, places, searcher, warn: say },
		onLook: (all) => {
			const found = runId === undefined ? all : all.slice(0, 1);
			if (runId !== undefined && found.length === 0) {
				if (seen !== undefined) {
					show(findKeptRun(runId, seen.status.instance, searcher, say));
					return false;
				}
				if (!isAwaited) {
					say(
						`there is no run ${runId} ${placesInWords(places)} yet; waiting for it`,
					);
				}
				isAwaited = true;
				return hasReader;
			}
			seen = found[0];
			show(found);
			if (!hasReader) return false;
			return runId === undefined || found[0]?.status.phase !== "ended";
		},
	});
	if (runId !== undefined && !isJson)
		say(`run ${runId}: nothing more to watch`);
	return EXIT_CODES.succeeded;
}

type View = (found: readonly FoundRun[]) => void;

function viewFor({ runId, isJson, searcher }: AskedCommand): View {
	const { clock, host } = searcher;
	if (isJson) {
		return whenChanged(fingerprint, ({ status, place }) =>
			plainJson({ ...status, place }),
		);
	}
	if (isScreen(process.stdout, host.environment)) {
		return onScreen((found) =>
			runId !== undefined && found[0] !== undefined
				? formatStatus(found[0].status, clock.wallTime())
				: formatRuns(found, clock.wallTime()),
		);
	}
	return whenChanged(
		({ status }) => watchLine(status),
		({ status }) => `${timeOfDay(clock.wallTime())} ${watchLine(status)}`,
	);
}

/** One line for each run that is new or has changed. */
function whenChanged(
	keyOf: (run: FoundRun) => string,
	lineOf: (run: FoundRun) => string,
): View {
	let known = new Map<string, string>();
	return (found) => {
		const keys = found.map((run): [string, string] => [
			nameOf(run),
			keyOf(run),
		]);
		for (const run of found) {
			if (known.get(nameOf(run)) === keyOf(run)) continue;
			print(`${lineOf(run)}\n`);
		}
		known = new Map(keys);
	};
}

/** A machine may have several runs of one name. */
function nameOf({ status, place }: FoundRun): string {
	return `${status.runId} ${place}`;
}

function onScreen(textOf: (found: readonly FoundRun[]) => string): View {
	let drawn = 0;
	return (found) => {
		const lines = textOf(found).trimEnd().split("\n");
		const { rows = USUAL_ROWS } = process.stdout;
		const fitting = fitLines(lines, { rows });
		print(redrawn(fitting, drawn));
		drawn = fitting.length;
	};
}
