import { fields, flag, type Infer, optional } from "../../base/shape.js";
import {
	count,
	duration,
	instance,
	positive,
	RUN_COMMAND,
	type RunCommand,
	version,
	words,
} from "../../model/index.js";
import type { Compare, Entry, Write } from "../../store/index.js";
import { decodeRecord, encodeRecord } from "./record-codec.js";
import { RECORD_VERSION } from "./records.js";

/** `spec`: what all agents of a run must agree on. Times are in milliseconds. */
export type RunSpec = Infer<typeof SPEC>;

export const SPEC = fields(
	{
		version,
		minNodes: positive,
		maxNodes: positive,
		policy: words,
		/** Finished nodes stay finished when a round is left: they count towards MIN and get no seat. */
		finishedStay: optional(flag),
		/** The run's store is private to this agent: no other node can come, so the run's budget is spent with this node's. */
		isAlone: optional(flag),
		/** The run succeeds when these roles have: names with commas between them. Absent: when all have. */
		driverRoles: optional(words),
		maxRestarts: count,
		/** So many same failures in a row end the run; 0 or absent: they do not. */
		maxIdenticalFailures: optional(count),
		/** Only what was charged in so many milliseconds counts; 0 or absent: all. */
		restartWindowMs: optional(duration),
		/** Failures on one node, after which it is replaced; absent: no limit. */
		maxNodeRestarts: optional(count),
		nodeWindowMs: optional(duration),
		/** How often the run may lose machines; once more, and it fails. Absent: no limit. */
		maxPreemptions: optional(count),
		preemptionWindowMs: optional(duration),
		/** Least and longest wait before a restart while nothing makes progress; the longest 0 or absent: none. */
		restartDelayMs: optional(duration),
		restartDelayMaxMs: optional(duration),
		joinTimeoutMs: duration,
		lastCallTimeoutMs: duration,
		settleTimeoutMs: duration,
		/** A node counts as lost this long after its last keepalive. */
		leaseTtlMs: duration,
		/** How long a round goes on without the store while its members confirm it to one another; absent: not at all. */
		rideOutMs: optional(duration),
		/** How long the run may take from its start, waiting included; absent: as long as it wants. */
		deadlineMs: optional(duration),
	},
	({ minNodes, maxNodes }) =>
		minNodes <= maxNodes
			? undefined
			: { field: "minNodes", allowed: `at most maxNodes (${maxNodes})` },
);

/** `commands/<role>`: the command of a role's workers in one start of the run. */
type CommandRecord = Infer<typeof COMMAND>;

export const COMMAND = fields({
	version,
	instance,
	...RUN_COMMAND,
});

/** An agent's command, and how strictly it is compared. */
export interface OwnCommand {
	readonly command: RunCommand;
	readonly role: string;
	/** The run's name was derived: a different command is a mistake, not intended. */
	readonly mustAgree: boolean;
	/** Runs follow one another at one place: this command waits until the agents of an ended run with another are gone. */
	readonly takesTurns?: boolean;
}

/** How many digits of a digest a message shows. */
const SHOWN_DIGITS = 12;

/**
 * The command in an entry for this start of the run; undefined if it has none yet.
 * @throws ElasticRunError RENDEZVOUS_FAILED if it is unreadable: another program may be running
 */
export function commandOf(
	entry: Entry | undefined,
	startedAt: number,
): RunCommand | undefined {
	const record = entry && decodeRecord(COMMAND, entry);
	return record?.instance === startedAt ? record : undefined;
}

/** Writes the command in place of what was read; the first agent of a role does so. */
export function commandWrite(
	key: string,
	command: RunCommand,
	instance: number,
	found: Entry | undefined,
): { readonly guard: Compare; readonly write: Write } {
	const record: CommandRecord = {
		version: RECORD_VERSION,
		instance,
		...command,
	};
	return {
		guard: { key, modRevision: found?.modRevision ?? 0 },
		write: { put: key, value: encodeRecord(record) },
	};
}

/** "the command: train.py there, eval.py here", one line for each part that differs. */
export function compareCommands(
	theirs: RunCommand,
	mine: RunCommand,
): readonly string[] {
	const lines: string[] = [];
	if (theirs.argumentsDigest !== mine.argumentsDigest) {
		const isSame = theirs.words === mine.words;
		const shown = ({ words, argumentsDigest }: RunCommand) =>
			isSame ? `${words} (${shorten(argumentsDigest)})` : words;
		lines.push(`the command: ${shown(theirs)} there, ${shown(mine)} here`);
	}
	if (theirs.scriptDigest !== mine.scriptDigest) {
		lines.push(
			`the script's content (sha256): ${shorten(theirs.scriptDigest)} there, ${shorten(mine.scriptDigest)} here`,
		);
	}
	return lines;
}

function shorten(hex: string): string {
	return hex.slice(0, SHOWN_DIGITS) || "not readable";
}
