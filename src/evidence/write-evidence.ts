import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../base/errors.js";
import { makeDirectories } from "../channel/directories.js";
import { placeOf, type Verdict } from "./evidence.js";
import type { Testimony } from "./take-evidence.js";
import { quote } from "./unfinished.js";

/** A run that hangs again and again must not fill the disk. */
const MOST_HANGS = 1_000;

/**
 * Makes a directory for evidence of a round: `round-<k>/hang-<n>`, or `round-<k>/stuck-<n>`.
 * @throws the system's error
 */
export function makeEvidenceDirectory(
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
export function writeTestimony(directory: string, testimony: Testimony): void {
	const { evidence, recording } = testimony;
	const name = `rank-${evidence.rank}`;
	write(join(directory, `${name}.txt`), asText(testimony));
	if (recording !== undefined) {
		write(join(directory, `${name}.flight-recorder.json`), recording.text);
	}
}

/** Writes `hang.json`. Throws the system's error. */
export function writeVerdict(
	directory: string,
	verdict: Verdict & {
		readonly stillSeconds: number;
		/** Milliseconds since 1970. */
		readonly noticedAt: number;
	},
): void {
	const text = JSON.stringify({ version: 1, ...verdict }, null, "\t");
	write(join(directory, "hang.json"), `${text}\n`);
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
