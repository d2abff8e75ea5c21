import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ElasticRunError, messageOf } from "../base/errors.js";
import { JsonFields } from "../channel/json-fields.js";
import { readMessage, replaceFile } from "../channel/message-file.js";

/**
 * Writes a command's request into an agent's directory.
 * @throws ElasticRunError CHANNEL if the disk refuses it
 */
export function writeRequest(
	directory: string,
	file: string,
	request: Readonly<Record<string, string | number>>,
): void {
	const text = JSON.stringify({ version: 1, ...request });
	try {
		replaceFile(join(directory, file), text, directory);
	} catch (error) {
		throw new ElasticRunError(
			"CHANNEL",
			`the launcher was not asked, its directory ${directory} takes no request: ${messageOf(error)}; make room there and try again, or end the launcher by elastic-run leave, which needs none`,
			{ cause: error },
		);
	}
}

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

/**
 * The requests whose file names fit, each with the first group of its name; none if the directory is gone. Never throws.
 */
export function requestsIn(
	directory: string,
	pattern: RegExp,
): readonly (readonly [name: string, id: string])[] {
	try {
		return readdirSync(directory).flatMap((name) => {
			const id = pattern.exec(name)?.[1];
			return id === undefined ? [] : [[name, id] as const];
		});
	} catch {
		return [];
	}
}
