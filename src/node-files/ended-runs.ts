import { lstatSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import {
	decodeIdentity,
	encodeIdentity,
	isDead,
	JsonFields,
	makeDirectories,
	ownIdentity,
	type ProcessIdentity,
	replaceFile,
	takePrivateDirectory,
} from "../channel/index.js";
import type { Host } from "../config/index.js";
import { ownEntries } from "./local-agents.js";
import { decodeMirror, encodeMirror, type Mirror } from "./node-file.js";

/** How long this machine keeps the record of an ended run, in milliseconds. */
const KEPT_MS = 7 * 24 * 3_600_000;
/** A launcher that is restarted again and again must not fill the disk. */
const MOST_KEPT = 500;
/** Enough for a run of many nodes with a long history; larger records are not kept. */
const LARGEST_BYTES = 8 * 1024 * 1024;

/** This machine's record of a run that has ended here: docs/status.md. */
export interface EndedRun extends Mirror {
	/** Milliseconds since 1970. */
	readonly endedAt: number;
	readonly nodeId: string;
	/** `<log dir>/<run id>/<instance>/<node id>`; undefined if there was none. */
	readonly logDirectory: string | undefined;
	/** Where its state was stored: in the launcher's memory, or in a store. */
	readonly backend: "memory" | "etcd";
	/** The launcher that takes this record back when its run ends in order. While it lives, the run has not ended. */
	readonly launcher?: ProcessIdentity | undefined;
}

/** The directory of a user's records of ended runs. It survives logout and reboot. */
export function endedRunsDirectory(
	{
		environment,
		temporaryDirectory,
	}: Pick<Host, "environment" | "temporaryDirectory">,
	uid: number,
): string {
	const { XDG_STATE_HOME, HOME } = environment;
	// A relative path would differ for each working directory; the XDG standard says to ignore it.
	if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME))
		return join(XDG_STATE_HOME, "elastic-run");
	if (HOME) return join(HOME, ".local/state/elastic-run");
	return join(temporaryDirectory, `elastic-run-state-${uid}`);
}

/** Returns the file. Throws if it cannot be written. `id`: no other record has it. */
export function writeEndedRun(
	directory: string,
	uid: number,
	id: string,
	run: EndedRun,
): string | undefined {
	const { runId, snapshot, launcher, ...others } = run;
	const text = JSON.stringify({
		version: 1,
		...others,
		launcher: launcher && encodeIdentity(launcher),
		run: encodeMirror(runId, snapshot),
	});
	if (Buffer.byteLength(text) > LARGEST_BYTES) return undefined;
	requireOwnPlace(directory, uid);
	makeDirectories(dirname(directory), 0o700);
	takePrivateDirectory(directory, uid);
	const file = join(directory, `${run.endedAt}-${id}.json`);
	replaceFile(file, text, directory);
	return file;
}

/** Under sudo, HOME may still belong to another user, who could not use what this one makes there. */
function requireOwnPlace(directory: string, uid: number): void {
	const stat = statSync(directory, { throwIfNoEntry: false });
	if (stat === undefined) requireOwnPlace(dirname(directory), uid);
	else if (stat.uid !== uid && stat.uid !== 0) {
		throw new Error(`${directory} belongs to user ${stat.uid}, not ${uid}`);
	}
}

/** The readable records of the last week, the latest end first. */
export function readEndedRuns(
	directory: string,
	uid: number,
	wallTime: number,
): readonly (EndedRun & { readonly file: string })[] {
	const self = ownIdentity();
	return recordNames(directory, uid)
		.reverse()
		.filter((name) => wallTime - endOf(name) <= KEPT_MS)
		.flatMap((name) => {
			const file = join(directory, name);
			const run = isFile(file, LARGEST_BYTES) ? readRecord(file) : undefined;
			const lives = run?.launcher && !isDead(run.launcher, self);
			return run === undefined || lives ? [] : [{ ...run, file }];
		});
}

/** Removes records older than a week, and the oldest of too many. `wallTime`: milliseconds since 1970. */
export function forgetEndedRuns(
	directory: string,
	uid: number,
	wallTime: number,
): void {
	const names = recordNames(directory, uid);
	const tooMany = names.length - MOST_KEPT;
	// Each launcher that ends comes here. It looks no further than the first name that stays.
	for (const [index, name] of names.entries()) {
		if (index >= tooMany && wallTime - endOf(name) <= KEPT_MS) return;
		const file = join(directory, name);
		if (isFile(file)) rmSync(file, { force: true });
	}
}

/** The earliest end first: a name begins with its time. */
function recordNames(directory: string, uid: number): string[] {
	return ownEntries(directory, uid).filter((name) =>
		/^\d{13}-.*\.json$/.test(name),
	);
}

/** Milliseconds since 1970. */
function endOf(name: string): number {
	return Number(name.slice(0, 13));
}

function isFile(file: string, largest = Number.POSITIVE_INFINITY): boolean {
	const stat = lstatSync(file, { throwIfNoEntry: false });
	return stat?.isFile() === true && stat.size <= largest;
}

function readRecord(file: string): EndedRun | undefined {
	try {
		const fields = JsonFields.parse(readFileSync(file, "utf8"));
		fields.oneOf("version", [1]);
		const mirror = decodeMirror(fields.text("run"));
		const launcher = fields.optionalText("launcher");
		return (
			mirror && {
				...mirror,
				endedAt: fields.integer("endedAt"),
				nodeId: fields.text("nodeId"),
				logDirectory: fields.optionalText("logDirectory"),
				backend: fields.oneOf("backend", ["memory", "etcd"]),
				launcher: launcher === undefined ? undefined : decodeIdentity(launcher),
			}
		);
	} catch {
		// Another version has written it, or somebody has removed it meanwhile.
		return undefined;
	}
}
