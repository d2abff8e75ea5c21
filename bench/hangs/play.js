import { spawnSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	statSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runAgents } from "../agents.js";
import { CLI } from "../launchers.js";
import { readIfThere } from "../marks.js";

const NODES = ["node-a", "node-b"];
const WORKERS = 2;
/** `--hang-timeout`, in seconds. */
export const LIMIT_S = 4;
export const SMOKE_LIMIT_S = 1;
const LONGEST_ROUND_MS = 120_000;
let runs = 0;

/**
 * One hang that the trainer makes.
 *
 * @typedef {object} Fault
 * @property {string} kind
 * @property {number} rank
 * @property {number} step before which it hangs
 *
 * What the launcher made of it. Times are milliseconds.
 *
 * @typedef {object} Finding
 * @property {Fault} fault
 * @property {string | undefined} wrong undefined: the right rank at the right line
 * @property {number} noticed from the last step of the round until the launcher began to ask
 * @property {number} asked from then until all evidence and the verdict were on disk
 *
 * A round that ended before the launcher had judged its hang.
 *
 * @typedef {object} Miss
 * @property {Fault} fault
 * @property {string} ending why the round ended
 */

/**
 * A run of two agents with two workers each. In each round the trainer makes one hang of the plan.
 * @param {{ trainer: string, plan: readonly Fault[], scratch: string, endpoint: string, limitS: number }} run
 * @returns {Promise<(Finding | Miss)[]>}
 */
export async function play({ trainer, plan, scratch, endpoint, limitS }) {
	const folder = mkdtempSync(join(scratch, "hangs-"));
	const file = fileURLToPath(new URL(trainer, import.meta.url));
	const times = join(folder, "times");
	mkdirSync(times);
	const runId = `bench-hangs-${process.pid}-${++runs}`;
	await runAgents(
		NODES.map((nodeId) => [
			...["--nnodes", "2", "--nproc-per-node", String(WORKERS)],
			...["--run-id", runId, "--node-id", nodeId],
			...["--rdzv-endpoint", endpoint, "--log-dir", join(folder, nodeId)],
			// A node that a busy machine takes for dead is none of the hangs.
			...["--rdzv-conf", "lease_ttl=60"],
			...["--hang-timeout", `${limitS}s`, "--max-restarts", "10000"],
			...["--restart-delay", "0", "--max-identical-failures", "0"],
			// The imports of torch would take most of the time.
			...["--warm", "auto", "--shutdown-timeout", "1", "--tee", "0"],
			...[file, times, JSON.stringify(plan)],
		]),
		plan.length * LONGEST_ROUND_MS,
	);
	const lines = readFileSync(file, "utf8").split("\n");
	const endings = endingsOf(runId, endpoint);
	return plan.map((fault, item) => {
		const round = readIfThere(join(times, `hang-${item}`));
		const ending = endings.get(round) ?? "it did not hang";
		return (
			findingOf(fault, item, { folder, times, lines, round }) ?? {
				...{ fault, ending },
			}
		);
	});
}

/** Why each round ended, by its number, as far back as the history goes. */
function endingsOf(runId, endpoint) {
	const args = ["history", runId, "--rdzv-endpoint", endpoint];
	const { stdout } = spawnSync(
		process.execPath,
		[CLI, ...args, "--output", "json"],
		{ encoding: "utf8" },
	);
	const { instances } = JSON.parse(stdout);
	return new Map(
		instances.flatMap(({ rounds }) =>
			rounds.map(({ round, ending }) => [String(round), ending]),
		),
	);
}

/** Undefined if nobody has judged the hang of this round. */
function findingOf(fault, item, { folder, times, lines, round }) {
	const mark = join(times, `hang-${item}`);
	if (!existsSync(mark)) return undefined;
	const hungAt = statSync(mark).mtimeMs;
	const first = verdictsOf(folder, round).find(
		({ told }) => told.noticedAt >= hungAt,
	);
	if (first === undefined) return undefined;
	const { told, path } = first;
	const noticed = told.noticedAt - lastStepBefore(told.noticedAt, times, item);
	const asked = statSync(path).mtimeMs - told.noticedAt;
	return { fault, wrong: judge(fault, told, lines), noticed, asked };
}

/** A stopped rank goes on for a moment when it is ended, and so may the others: such a step is none that was waited for. */
function lastStepBefore(noticedAt, times, item) {
	const steps = Array.from({ length: NODES.length * WORKERS }, (_, rank) =>
		Number(readIfThere(join(times, `${item}.${rank}`))),
	);
	const before = steps.filter((at) => at > 0 && at < noticedAt);
	return before.length === 0 ? Number.NaN : Math.max(...before);
}

/** The verdicts of all nodes on a round, those of a step that was only slow among them; the oldest first. */
function verdictsOf(folder, round) {
	const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
	return files
		.filter((path) => /\/hang-\d+\/hang\.json$/.test(path))
		.filter((path) => path.includes(`/round-${round}/`))
		.map((name) => join(folder, name))
		.map((path) => ({ path, told: JSON.parse(readFileSync(path, "utf8")) }))
		.sort((left, right) => left.told.noticedAt - right.told.noticedAt);
}

/** A stopped process cannot show its stack, and a promise has none: then nothing must be shown as one. */
function judge({ kind, rank }, { suspects, reason }, lines) {
	const ranks = suspects.map((one) => one.rank);
	if (ranks.join() !== String(rank)) {
		return `rank ${rank} hangs, and accused: ${ranks.join() || "nobody"} (${reason})`;
	}
	const line = lines.findIndex((text) => text.endsWith(`hang: ${kind}`)) + 1;
	const [{ where }] = suspects;
	const hasNoStack = kind === "stopped" || kind === "promise";
	if (hasNoStack ? where === null : where?.includes(`:${line} `)) return;
	return `line ${line} hangs, and shown: ${where}`;
}
