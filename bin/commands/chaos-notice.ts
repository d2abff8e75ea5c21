import { EXIT_CODES } from "../../src/base/errors.js";
import { formatDuration } from "../../src/base/units.js";
import { parseSomeTime } from "../../src/config/parse/notices.js";
import { oneOf } from "../../src/config/parse/scalars.js";
import { printResult } from "../console.js";
import { refuse } from "./command-arguments.js";
import { FlagReader } from "./flag-reader.js";
import { type AskedCommand, refuseNameless } from "./run-request.js";

/** Gives a node a notice that its machine will go. Returns the exit code. */
export async function makeNotice(asked: AskedCommand): Promise<number> {
	const { flags, runId, named, searcher, isJson } = asked;
	if (runId === undefined) return refuseNameless("chaos");
	const reader = new FlagReader("chaos", flags);
	const platform =
		reader.read("platform", oneOf("aws", "gcp", "azure", "slurm", "file")) ??
		"aws";
	const windowMs = reader.read("window", parseSomeTime);
	const { problems } = reader;
	if (problems.length > 0) return refuse(problems);
	const { makeNotice: make } = await import(
		"../../src/operate/chaos/make-notice.js"
	);
	const { nodeId } = named;
	const made = make({ runId, nodeId, platform, windowMs }, searcher);
	const { deadline, reason } = made;
	const leftMs =
		deadline === null ? null : deadline - searcher.clock.wallTime();
	const when =
		leftMs === null ? "it is not said when" : `in ${formatDuration(leftMs)}`;
	printResult(
		isJson,
		made,
		() => `notice for ${made.nodeId} of run ${runId}: ${reason}, ${when}\n`,
	);
	return EXIT_CODES.succeeded;
}
