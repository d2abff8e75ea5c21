import { dateAndTime } from "../base/local-time.js";
import { alignColumns } from "../base/table.js";
import { formatCount, formatDuration } from "../base/units.js";
import { plainMessage } from "../logs/index.js";
import { onceEach, type Warn } from "../rendezvous/index.js";
import {
	CATEGORIES,
	CATEGORY_NAMES,
	type Cost,
	describeGoodput,
	describeHistory,
	describeRun,
	type Goodput,
	readAccounts,
} from "../status/index.js";
import type { Searcher } from "./found-runs.js";
import { readKnownRun } from "./found-runs.js";
import type { RunPlaces } from "./run-request.js";

/** The goodput of a run, and where its records were found. */
interface FoundGoodput extends Goodput {
	readonly place: string;
}

/**
 * What the time of a run was spent on; undefined if there is no such run.
 * @param warn receives each unreadable record
 * @throws ElasticRunError STORE_UNREACHABLE, RENDEZVOUS_FAILED
 */
export async function readGoodput(
	runId: string,
	places: RunPlaces,
	searcher: Searcher,
	warn: Warn,
): Promise<FoundGoodput | undefined> {
	const [newest] = await readKnownRun(runId, places, searcher);
	if (newest === undefined) return undefined;
	const { snapshot, place } = newest;
	const wallTime = searcher.clock.wallTime();
	const once = onceEach(warn);
	const run = describeRun(runId, snapshot, wallTime);
	const history = describeHistory(runId, snapshot, wallTime, once);
	if (run === undefined || history === undefined) return undefined;
	const accounts = readAccounts(run, history, snapshot, wallTime, once);
	return { ...describeGoodput(accounts), place };
}

/** A run's goodput as text, with a newline at its end. */
export function formatGoodput(goodput: Goodput, cost: Cost | null): string {
	const lines = [
		headline(goodput),
		...alignColumns(rowsOf(goodput, cost)).map((line) => `  ${line}`),
		...figures(goodput),
		...(cost === null
			? []
			: [`cost ${money(cost.total)}, of it lost ${money(cost.lost)}`]),
	];
	return lines.map((line) => `${plainMessage(line)}\n`).join("");
}

function headline(goodput: Goodput): string {
	const { runId, begunAt, endedAt, elapsedSeconds, nodes, nodeSeconds } =
		goodput;
	const time = inWords(elapsedSeconds);
	const spent = endedAt === null ? `so far ${time}` : `took ${time}`;
	return `run ${runId}, begun ${dateAndTime(begunAt)}, ${spent}: ${inWords(nodeSeconds)} on ${formatCount(nodes.length, "node")}`;
}

/** Only the categories that have time, and their total. */
function rowsOf(
	{ ledger, nodeSeconds }: Goodput,
	cost: Cost | null,
): readonly (readonly string[])[] {
	const row = (name: string, seconds: number, price: number, about: string) => [
		name,
		inWords(seconds),
		percent(nodeSeconds === 0 ? null : seconds / nodeSeconds),
		...(cost === null ? [] : [money(price)]),
		about,
	];
	const shown = CATEGORY_NAMES.filter((name) => ledger[name] > 0);
	return [
		...shown.map((name) =>
			row(name, ledger[name], cost?.byCategory[name] ?? 0, CATEGORIES[name]),
		),
		row("all", nodeSeconds, cost?.total ?? 0, ""),
	];
}

function figures({
	ledger: { unknown },
	nodeSeconds,
	goodput,
	ettr,
	recoveries,
	checkpoints,
}: Goodput): readonly string[] {
	const { failures, mtbfSeconds, count, meanSeconds } = recoveries;
	const { saveSeconds, intervalSeconds, missing } = checkpoints;
	const { starts, workers } = checkpoints;
	const between = checkpoints.mtbfSeconds ?? 0;
	const rest =
		unknown > 0 ? `; ${percent(unknown / nodeSeconds)} is not known` : "";
	return [
		`goodput ${percent(goodput)} (productive of all${rest}), effective training time ratio ${percent(ettr)} (and saving)`,
		mtbfSeconds === null
			? "no failure"
			: `${formatCount(failures, "failure")}, one each ${inWords(mtbfSeconds)}; mean time to the next new step ${meanSeconds === null ? "unknown" : `${inWords(meanSeconds)} (${count})`}`,
		intervalSeconds === null || saveSeconds === null
			? `checkpoint interval by Young/Daly unknown: ${missing}`
			: `checkpoint interval by Young/Daly ${inWords(intervalSeconds)}: a save takes ${inWords(saveSeconds)}, and one of ${formatCount(workers, "worker")} fails each ${inWords(between)} (${formatCount(starts, "start")} of the run)`,
	];
}

function inWords(seconds: number): string {
	return formatDuration(seconds * 1_000);
}

function percent(ratio: number | null): string {
	return ratio === null ? "-" : `${(ratio * 100).toFixed(1)} %`;
}

function money(amount: number): string {
	return amount.toFixed(2);
}
