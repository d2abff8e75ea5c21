import {
	ElasticRunError,
	EXIT_CODES,
	messageOf,
	systemErrorCode,
} from "../src/base/errors.js";
import { say } from "./console.js";

/** Ends a command with exit code 1: what it was asked for is not there. */
export class NotFound extends Error {}

/** Reports an unexpected error as a bug and ends the process. The guards end its workers. */
export function reportCrashes(): void {
	process.on("uncaughtException", (error) => {
		process.exit(reportUnforeseen(error));
	});
}

/** Says which error ended a command. Returns the exit code. */
export function reportError(error: unknown): number {
	if (error instanceof NotFound) {
		say(error.message);
		return EXIT_CODES.failed;
	}
	if (!(error instanceof ElasticRunError)) return reportUnforeseen(error);
	if (error.code === "INTERNAL" && isLackOfFiles(error))
		return reportUnforeseen(error);
	say(error.message);
	return error.exitCode;
}

function reportUnforeseen(error: unknown): number {
	if (!isLackOfFiles(error)) return reportBug(error);
	say(
		`${messageOf(error)}; the limit of open files (ulimit -n) is too low: raise it, for example with ulimit -n 4096`,
	);
	return EXIT_CODES.replaceNode;
}

/** Modules are files as well, so this can happen anywhere. */
function isLackOfFiles(error: unknown): boolean {
	const code = systemErrorCode(error) ?? "";
	if (code === "EMFILE" || code === "ENFILE") return true;
	return error instanceof Error && isLackOfFiles(error.cause);
}

/** Reports a bug, with the stack if ELASTIC_RUN_DEBUG is set. Returns the exit code. */
function reportBug(error: unknown): number {
	const isDetailed = Boolean(process.env.ELASTIC_RUN_DEBUG);
	say(
		`internal error: ${messageOf(error)}; this is a bug${isDetailed ? "" : ", set ELASTIC_RUN_DEBUG=1 for details"}`,
	);
	if (isDetailed && error instanceof Error) say(error.stack ?? "no stack");
	return EXIT_CODES.internal;
}

/**
 * A user's module may end the process, or wait for ever, so that Node runs out of work. That must not look like success.
 * Call the returned function once there is a result.
 */
export function expectResult(): () => void {
	const complain = (exitCode: number) => {
		if (exitCode !== 0) return;
		say(
			"ended before it was done, by a module that it loaded (of --restart-policy): that calls process.exit, or awaits what never comes; let it do neither",
		);
		process.exitCode = EXIT_CODES.usage;
	};
	process.once("exit", complain);
	return () => process.off("exit", complain);
}
