import { EXIT_CODES } from "../../src/base/errors.js";
import { readmitNode } from "../../src/operate/readmit-node.js";
import { printResult, say } from "../console.js";
import { refuse } from "./command-arguments.js";
import {
	type AskedCommand,
	nodeCommand,
	onlyRun,
	sayNotFound,
} from "./run-request.js";

const ABOUT = `Lets a node that was replaced into its run again, under its name and with a
fresh budget. Until then an agent of that name is refused with the exit code for
nodes that should be replaced. Without RUN_ID or --run-id: into the only run
that runs. The agent itself is not started.
Exit code: 0; 1 where there is no such run, or the node is not replaced in it; 4
where the store does not answer.
`;

/** Lets a node in again. Returns the exit code. */
export function readmit(args: readonly string[]): Promise<number> {
	return nodeCommand("readmit", ABOUT, args, letIn);
}

async function letIn(asked: AskedCommand, nodeId: string): Promise<number> {
	const { places, named, searcher, isJson } = asked;
	const { store } = places;
	const runId = asked.runId ?? named.runId ?? (await onlyRun("readmit", asked));
	if (typeof runId === "number") return runId;
	if (store === undefined) {
		return refuse([
			"readmit: a run without etcd has no other node; name the run's etcd with --rdzv-endpoint",
		]);
	}
	const result = await readmitNode(runId, nodeId, store, searcher);
	if (result === "no-run") return sayNotFound(runId, places);
	if (result === "not-replaced") {
		say(`${nodeId} is not replaced in run ${runId}`);
		return EXIT_CODES.failed;
	}
	printResult(
		isJson,
		{ version: 1, runId, nodeId },
		() => `${nodeId} may take part in run ${runId} again\n`,
	);
	return EXIT_CODES.succeeded;
}
