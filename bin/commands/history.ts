import { EXIT_CODES } from "../../src/errors.js";
import { describeHistory } from "../../src/rendezvous/describe-history.js";
import { print } from "../console.js";
import {
	type AskedCommand,
	refuseNameless,
	runCommand,
	sayNotFound,
} from "./run-request.js";

const USAGE = `Usage: elastic-run history RUN_ID [--rdzv-endpoint HOST:PORT,…] [--rdzv-backend etcd|memory]
                          [--rdzv-conf K=V,…] [--config FILE] [--output text|json]

Shows the rounds of a run, the newest 200 over all its starts: why each was begun and who came or
went, how long it took until the failure was noticed, the workers were stopped, all nodes were
ready, the barrier was lifted and the workers started, and how long they ran; of each start the mean
time to repair and the part of the time in which all workers ran.
Exit code: 0, 1 where there is no such run, 4 where the store does not answer.
`;

/** Shows what the rounds of a run were. Returns the exit code. */
export function history(args: readonly string[]): Promise<number> {
	return runCommand("history", USAGE, args, show);
}

async function show({
	runId,
	places,
	searcher,
	isJson,
}: AskedCommand): Promise<number> {
	if (runId === undefined) return refuseNameless("history");
	const { readRun } = await import("../../src/agent/status/find-runs.js");
	const [newest] = await readRun(runId, places, searcher);
	const found =
		newest &&
		describeHistory(runId, newest.snapshot, searcher.clock.wallTime());
	if (newest === undefined || found === undefined) {
		return sayNotFound(runId, places);
	}
	const { formatHistory } = await import(
		"../../src/agent/operate/format-history.js"
	);
	print(
		isJson
			? `${JSON.stringify({ ...found, place: newest.place })}\n`
			: formatHistory(found),
	);
	return EXIT_CODES.succeeded;
}
