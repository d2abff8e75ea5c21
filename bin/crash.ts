import { EXIT_CODES, messageOf } from "../src/errors.js";
import { say } from "./console.js";

/** Reports what nobody expected as a bug and ends the process; its workers are ended by their guards. */
export function reportCrashes(): void {
	process.on("uncaughtException", (error) => {
		process.exit(reportBug(error));
	});
}

/** Says that this is a bug, with the stack where ELASTIC_RUN_DEBUG is set. Returns the exit code. */
export function reportBug(error: unknown): number {
	const isDetailed = Boolean(process.env.ELASTIC_RUN_DEBUG);
	say(
		`internal error: ${messageOf(error)}; this is a bug${isDetailed ? "" : ", set ELASTIC_RUN_DEBUG=1 for details"}`,
	);
	if (isDetailed && error instanceof Error) say(error.stack ?? "no stack");
	return EXIT_CODES.internal;
}
