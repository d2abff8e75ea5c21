import { fields, type Infer } from "../../base/shape.js";
import { RUN_COMMAND, type RunCommand } from "../../model/run.js";
import { instance, version } from "../../model/value.js";
import type { Compare, Entry, Write } from "../store/store.js";
import { decodeRecord, encodeRecord } from "./record-codec.js";
import { RECORD_VERSION } from "./records.js";

/** `commands/<role>`: the command of a role's workers in one start of the run. */
export type CommandRecord = Infer<typeof COMMAND>;

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
