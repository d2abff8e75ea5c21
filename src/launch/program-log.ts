import { Writable } from "node:stream";
import type { Logger } from "../base/logger.js";
import { callUser } from "./call-user.js";

const METHODS = ["debug", "info", "warn", "error"] as const;

/** Takes a log's JSON lines for a program's own logger, or for nobody. What that logger fails of ends no run. */
export function programLog(log: false | Logger): Writable {
	return new Writable({
		write(line, _, done) {
			if (log !== false) {
				void callUser(
					() => tell(log, String(line)),
					() => {},
				);
			}
			done();
		},
	});
}

function tell(log: Logger, line: string): unknown {
	const { level, time: _, msg, ...details } = JSON.parse(line);
	const method = METHODS.find((name) => name === level) ?? "info";
	return log[method](String(msg), details);
}
