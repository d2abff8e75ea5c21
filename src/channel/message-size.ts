import { ElasticRunError } from "../errors.js";
import { MESSAGE_LIMIT_BYTES } from "./layout.js";

/** Throws CHANNEL where a message is larger than the channel takes. `what` names it for people. */
export function requireMessageSize(text: string, what: string): void {
	const bytes = Buffer.byteLength(text);
	if (bytes <= MESSAGE_LIMIT_BYTES) return;
	throw new ElasticRunError(
		"CHANNEL",
		`The message (${what}) has ${bytes} bytes; the channel takes at most ${MESSAGE_LIMIT_BYTES}. Put large data into a file and send its path.`,
	);
}
