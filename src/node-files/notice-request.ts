import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import { watchDirectory } from "../channel/directory-watch.js";
import { JsonFields } from "../channel/json-fields.js";
import { readMessage } from "../channel/message-file.js";
import type { Notice } from "../model/notice.js";
import { requestsIn, writeRequest } from "./request-file.js";

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
	const look = () => {
		for (const [name] of requestsIn(directory, REQUEST)) {
			const notice = readNotice(join(directory, name));
			rmSync(join(directory, name), { force: true });
			if (notice !== undefined) onNotice(notice);
		}
	};
	// If there are no notifications, the watch on the workers' channels says so.
	const close = watchDirectory(directory, look, { clock, warn: () => {} });
	look();
	return close;
}

function readNotice(path: string): Notice | undefined {
	try {
		const message = readMessage(path);
		if (message === undefined) return undefined;
		const fields = JsonFields.parse(message.text);
		const deadline = fields.integer("deadline");
		return {
			source: "chaos",
			reason: fields.text("reason"),
			deadline: deadline === UNKNOWN ? undefined : deadline,
		};
	} catch {
		// Anything else is no request.
		return undefined;
	}
}
