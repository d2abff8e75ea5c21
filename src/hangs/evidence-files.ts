import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, systemErrorCode } from "../base/errors.js";
import { makeDirectories } from "../channel/index.js";
import { placeOf } from "../failures/index.js";
import type { RankEvidence } from "../model/index.js";
import type { NodeProcess } from "../steps/index.js";
import type { Verdict } from "./accusation.js";
import { quote } from "./collectives.js";
import { type Testimony, takeEvidence, type WatchedNode } from "./evidence.js";

/** A run that hangs again and again must not fill the disk. */
const MOST_HANGS = 1_000;

/** What was found out about this node's workers, and where it lies on disk. */
export interface RecordedEvidence {
	readonly own: readonly RankEvidence[];
	/** Undefined if it could not be written. */
	readonly directory: string | undefined;
}

/**
 * Finds out what these workers do, and writes it into a directory of its own. Never rejects.
 * @param until by when all must be there, on the clock
 */
export async function recordEvidence(
	processes: readonly NodeProcess[],
	node: WatchedNode,
	{
		round,
		name,
		until,
	}: {
		readonly round: number;
		readonly name: "hang" | "stuck";
		readonly until: number;
	},
): Promise<RecordedEvidence> {
	const testimonies = await takeEvidence(processes, node, until);
	const directory = attempt(node, () => {
		const made = makeEvidenceDirectory(node.logDirectory, round, name);
		for (const testimony of testimonies) writeTestimony(made, testimony);
		return made;
	});
	return { own: testimonies.map(({ evidence }) => evidence), directory };
}

/**
 * Writes `hang.json` beside the evidence.
 * @param noticedAt when the launcher began to ask, in milliseconds since 1970
 */
export function recordVerdict(
	directory: string | undefined,
	verdict: Verdict,
	{ stillMs, noticedAt }: { stillMs: number; noticedAt: number },
	node: Pick<WatchedNode, "log">,
): void {
	if (directory === undefined) return;
	const stillSeconds = stillMs / 1_000;
	const content = { version: 1, ...verdict, stillSeconds, noticedAt };
	const text = JSON.stringify(content, null, "\t");
	attempt(node, () => write(join(directory, "hang.json"), `${text}\n`));
}

/** A full disk must not keep a hang from being ended. */
function attempt<Value>(
	{ log }: Pick<WatchedNode, "log">,
	work: () => Value,
): Value | undefined {
	try {
		return work();
	} catch (error) {
		log.warn(`evidence cannot be written: ${messageOf(error)}`);
		return undefined;
	}
}

/**
 * Makes a directory for evidence of a round: `round-<k>/hang-<n>`, or `round-<k>/stuck-<n>`.
 * @throws the system's error
 */
function makeEvidenceDirectory(
	nodeDirectory: string,
	round: number,
	name: "hang" | "stuck",
): string {
	const parent = join(nodeDirectory, `round-${round}`);
	makeDirectories(parent, 0o700);
	for (let number = 1; ; number++) {
		const directory = join(parent, `${name}-${number}`);
		try {
			mkdirSync(directory, { mode: 0o700 });
			return directory;
		} catch (error) {
			if (systemErrorCode(error) !== "EEXIST" || number >= MOST_HANGS) {
				throw error;
			}
		}
	}
}

/** Writes `rank-<r>.txt`, and torch's recording beside it. Throws the system's error. */
function writeTestimony(directory: string, testimony: Testimony): void {
	const { evidence, recording } = testimony;
	const name = `rank-${evidence.rank}`;
	write(join(directory, `${name}.txt`), asText(testimony));
	if (recording !== undefined) {
		write(join(directory, `${name}.flight-recorder.json`), recording.text);
	}
}

function write(path: string, text: string): void {
	writeFileSync(path, text, { mode: 0o600, flag: "wx" });
}

function asText({ evidence, stack, lastLines }: Testimony): string {
	const { rank, nodeId, pid, activity, waitChannel, threads } = evidence;
	const { step, where, groups } = evidence;
	const lines = [
		`rank ${rank} on ${nodeId}, pid ${pid}`,
		`activity: ${activity}`,
		`wait channel: ${waitChannel ?? "unknown"}`,
		`threads: ${threads ?? "unknown"}`,
		`last step: ${step ?? "none"}`,
		`at: ${where ?? "no stack is known"}`,
		...groups.map(
			({ group, entered, unfinished }) =>
				`collectives of group ${group}: entered ${entered}, ${unfinished ? `waits in ${quote(unfinished)}` : "none unfinished"}`,
		),
		"",
		"main thread, innermost frame first:",
		...evidence.frames.map((frame) => `  ${placeOf(frame)}`),
		...(evidence.frames.length === 0 ? ["  unknown"] : []),
	];
	for (const { name, lines: last } of lastLines) {
		lines.push("", `last lines of its ${name}:`);
		lines.push(...last.map((line) => `  | ${line}`));
	}
	if (stack !== undefined) lines.push("", "all threads:", stack.text.trimEnd());
	return `${lines.join("\n")}\n`;
}
