import { join } from "node:path";
import { JsonFields } from "../../channel/json-fields.js";
import { readMessage } from "../../channel/message-file.js";

/** A field of a command's request in an agent's directory; undefined if there is no such request. Never throws. */
export function readRequest(
	directory: string,
	file: string,
	field: string,
): string | undefined {
	try {
		const message = readMessage(join(directory, file));
		return message && JsonFields.parse(message.text).text(field);
	} catch {
		// Anything else is no request.
		return undefined;
	}
}
