import { fields, matching } from "../../base/shape.js";
import type { Compare, Entry, Write } from "../store/store.js";
import { decodeRecord, encodeRecord } from "./record-codec.js";
import { instance, version, words } from "./record-parts.js";
import { RECORD_VERSION } from "./records.js";

/** An agent's command, as agents of a role compare it. */
export interface RunCommand {
	/** Program and arguments for people, without secrets. */
	readonly words: string;
	/** SHA-256 of the program and its arguments as typed. */
	readonly argumentsDigest: string;
	/** SHA-256 of the script's content; empty if there is no readable script. */
	readonly scriptDigest: string;
}

/** `commands/<role>`: the command of a role's workers in one start of the run. */
export interface CommandRecord extends RunCommand {
	readonly version: 1;
	readonly instance: number;
}

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

const digest = matching(
	/^([0-9a-f]{64})?$/,
	"a SHA-256 digest in hexadecimal, or empty",
);

export const COMMAND = fields<CommandRecord>({
	version,
	instance,
	words,
	argumentsDigest: digest,
	scriptDigest: digest,
});

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
