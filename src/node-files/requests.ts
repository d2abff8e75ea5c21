import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../base/attempt.js";
import { pause } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import { ElasticRunError, messageOf } from "../base/errors.js";
import {
	JsonFields,
	readMessage,
	replaceFile,
	watchDirectory,
} from "../channel/index.js";
import type { Notice } from "../model/index.js";

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

/** The file that asks an agent to end its run, in the directory of an agent that keeps the run's state in its memory. */
const STOP_FILE = "stop.json";

/** How long an agent stays for the command that asked, and how often it looks, in milliseconds. */
const SEEN_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 5;

/**
 * Asks the agent of this directory to end its run.
 * @throws ElasticRunError CHANNEL
 */
export function requestStop(directory: string, reason: string): void {
	writeRequest(directory, STOP_FILE, { reason });
}

/** Releases the agent after it has said how its run ended. Throws the system's error. */
export function takeBackRequest(directory: string): void {
	rmSync(join(directory, STOP_FILE), { force: true });
}

/** Resolves when the command has seen the answer, or soon if it no longer looks. */
export async function whenTakenBack(
	directory: string,
	clock: Clock,
): Promise<void> {
	const until = clock.now() + SEEN_WITHIN_MS;
	const file = join(directory, STOP_FILE);
	while (existsSync(file) && clock.now() < until) {
		await pause(clock, LOOK_EVERY_MS);
	}
}

/** Calls `onRequest` once, with who ends the run in words, when a request comes. Returns a function that ends the watch. */
export function onStopRequest(
	directory: string,
	onRequest: (reason: string) => void,
	clock: Clock,
): () => void {
	let isSeen = false;
	return watchAndLook(directory, clock, () => {
		if (isSeen) return;
		const reason = fieldsOf(join(directory, STOP_FILE), (fields) =>
			fields.text("reason"),
		);
		if (reason === undefined) return;
		isSeen = true;
		onRequest(reason);
	});
}

/** A notice that a command of this machine makes, in an agent's directory. */
const REQUEST = /^notice-([\w-]{1,100})\.json$/;
/** Stands for a deadline that is not known. */
const UNKNOWN = 0;

/** Gives the agent of this directory a notice. Each has a file of its own. Throws as `writeRequest`. */
export function requestNotice(
	directory: string,
	id: string,
	{ reason, deadline }: Pick<Notice, "reason" | "deadline">,
): void {
	const at = Math.round(deadline ?? UNKNOWN);
	writeRequest(directory, `notice-${id}.json`, { reason, deadline: at });
}

/** Calls `onNotice` with each notice, and takes it away. Returns a function that ends the watch. */
export function onNoticeRequest(
	directory: string,
	onNotice: (notice: Notice) => void,
	clock: Clock,
): () => void {
	return watchAndLook(directory, clock, () => {
		for (const [path] of requestsIn(directory, REQUEST)) {
			const notice = fieldsOf(path, noticeOf);
			rmSync(path, { force: true });
			if (notice !== undefined) onNotice(notice);
		}
	});
}

function noticeOf(fields: JsonFields): Notice {
	const deadline = fields.integer("deadline");
	return {
		source: "chaos",
		reason: fields.text("reason"),
		deadline: deadline === UNKNOWN ? undefined : deadline,
	};
}

/** A question of what an agent's workers do, in the directory of an agent that keeps the run's state in its memory. */
const QUESTION = /^why-([\w-]{1,100})\.json$/;

/** Asks the agent of this directory. Each question has a file of its own. Throws as `writeRequest`. */
export function requestWhy(directory: string, id: string): void {
	writeRequest(directory, `why-${id}.json`, { id });
}

/** Calls `onRequest` with the id of each question, and takes it away. Returns a function that ends the watch. */
export function onWhyRequest(
	directory: string,
	onRequest: (id: string) => void,
	clock: Clock,
): () => void {
	return watchAndLook(directory, clock, () => {
		for (const [path, id] of requestsIn(directory, QUESTION)) {
			rmSync(path, { force: true });
			onRequest(id);
		}
	});
}

function watchAndLook(
	directory: string,
	clock: Clock,
	look: () => void,
): () => void {
	// If there are no notifications, the watch on the workers' channels says so.
	const close = watchDirectory(directory, look, { clock, warn: () => {} });
	look();
	return close;
}

/** What a request says; undefined if there is no such request. Never throws. */
function fieldsOf<Value>(
	path: string,
	read: (fields: JsonFields) => Value,
): Value | undefined {
	const message = attempt(() => readMessage(path));
	// Anything else is no request.
	return message && attempt(() => read(JsonFields.parse(message.text)));
}

/** The requests whose file names fit, each with the first group of its name. Never throws. */
function requestsIn(
	directory: string,
	pattern: RegExp,
): readonly (readonly [path: string, id: string])[] {
	const names = attempt(() => readdirSync(directory)) ?? [];
	return names.flatMap((name) => {
		const id = pattern.exec(name)?.[1];
		return id === undefined ? [] : [[join(directory, name), id] as const];
	});
}
