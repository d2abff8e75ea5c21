import { dateAndTime, timeOfDay } from "../base/local-time.js";
import { alignColumns } from "../base/table.js";
import { formatCount, formatDuration } from "../base/units.js";
import { plainMessage } from "../logs/index.js";
import {
	type InstanceHistory,
	type RoundLine,
	type RunHistory,
	wordsOfStarts,
} from "../status/index.js";

const HEADER = [
	...["round", "workers", "nodes", "lifted", "noticed", "stopped", "ready"],
	...["barrier", "started", "in all", "ran"],
];
const STEPS_HEADER = ["1st step", "lost", "again"];
const CAUSE_HEADER = "begun because of";

/** The rounds of a run as text, start after start, with a newline at its end. */
export function formatHistory({ runId, instances }: RunHistory): string {
	const blocks = instances.map((instance) => [
		...headlines(instance),
		...alignColumns(rowsOf(instance)),
	]);
	return [[`run ${runId}`], ...blocks]
		.map((lines) => lines.map((line) => `${plainMessage(line)}\n`).join(""))
		.join("\n");
}

/** The columns of steps are there only if a worker has shown one. */
function rowsOf({ rounds }: InstanceHistory): readonly (readonly string[])[] {
	const showsSteps = rounds.some(({ steps }) => steps !== null);
	const showsStarts = rounds.some(({ starts }) => starts.length > 0);
	const stepsHeader = [
		...(showsSteps ? STEPS_HEADER : []),
		...(showsStarts ? ["start"] : []),
	];
	return [
		[...HEADER, ...stepsHeader, CAUSE_HEADER],
		...rounds.map((line) => [
			...cellsOf(line),
			...(showsSteps ? stepCells(line) : []),
			...(showsStarts ? [wordsOfStarts(line.starts) ?? "-"] : []),
			causeOf(line),
		]),
	];
}

function stepCells({ steps }: RoundLine): readonly string[] {
	const { toFirstMs = null, lost = null, again = null } = steps ?? {};
	return [
		inWords(toFirstMs),
		...[lost, again].map((count) => String(count ?? "-")),
	];
}

function inWords(ms: number | null): string {
	return ms === null ? "-" : formatDuration(ms);
}

function headlines(instance: InstanceHistory): readonly string[] {
	const { begunAt, elapsedMs, outcome, endedAt } = instance;
	const time = elapsedMs === null ? "" : formatDuration(elapsedMs);
	const end =
		outcome !== null
			? `${outcome.result}${time && ` after ${time}`}: ${outcome.reason}`
			: endedAt === null && elapsedMs !== null
				? `for ${time}`
				: "no agent was left to see its end";
	return [
		`begun ${dateAndTime(begunAt)} (instance ${instance.instance}), ${end}`,
		`  ${figuresOf(instance).join(", ")}`,
	];
}

function figuresOf(instance: InstanceHistory): readonly string[] {
	const { rounds, incidents, repairs, ranShare } = instance;
	const departures = rounds.filter(
		({ cause }) => cause.kind === "scale-down",
	).length;
	return [
		formatCount(rounds.length, "round"),
		formatCount(incidents, "incident"),
		...(departures === 0
			? []
			: [`nodes left ${formatCount(departures, "time")}`]),
		...repairWords("mean time to repair", repairs),
		...repairWords("to a step beyond", repairs.toStep),
		...(ranShare === null
			? []
			: [`workers ran ${(ranShare * 100).toFixed(1)} % of the time`]),
	];
}

function repairWords(
	what: string,
	repairs: InstanceHistory["repairs"]["toStep"],
): readonly string[] {
	const { count = 0, meanMs = null, longestMs = null } = repairs ?? {};
	if (meanMs === null || longestMs === null) return [];
	const longest = formatDuration(longestMs);
	return [
		`${what} ${formatDuration(meanMs)} (${count}, the longest ${longest})`,
	];
}

function cellsOf(line: RoundLine): readonly string[] {
	const { round, worldSize, members, liftedAt, phases, ranMs } = line;
	const { noticeMs, stopMs, readyMs, barrierMs, startMs, totalMs } = phases;
	return [
		String(round),
		String(worldSize),
		String(members.length),
		timeOfDay(liftedAt),
		...[noticeMs, stopMs, readyMs, barrierMs, startMs, totalMs, ranMs].map(
			inWords,
		),
	];
}

function causeOf({ cause, joined, left }: RoundLine): string {
	const pid = cause.root?.pid;
	const reason = `${cause.reason}${pid == null ? "" : ` (pid ${pid})`}`;
	if (cause.kind === "start") return reason;
	const changes = [
		...joined.map((nodeId) => `+${nodeId}`),
		...left.map((nodeId) => `-${nodeId}`),
	];
	return changes.length === 0 ? reason : `${reason}; ${changes.join(" ")}`;
}
