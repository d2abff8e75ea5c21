import { EXIT_CODES } from "../../src/base/errors.js";
import { OPTIONS } from "../../src/config/index.js";
import { readmitNode } from "../../src/operate/index.js";
import { refusal } from "../command.js";
import { printResult } from "../console.js";
import { NotFound } from "../crash.js";
import { namedOrOnlyRun, noRun, RunCommand } from "../run-command.js";

const ABOUT = `Lets a node that was replaced into its run again, under its name and with a
fresh budget. Until then an agent of that name is refused with the exit code for
nodes that should be replaced. Without RUN_ID or --run-id: into the only run
that runs. The agent itself is not started.
Exit code: 0; 1 where there is no such run, or the node is not replaced in it; 4
where the store does not answer.`;

export const command = new RunCommand("readmit", "NODE [RUN_ID]", ABOUT)
	.takes(OPTIONS.runId)
	.onNode(async (asked, nodeId) => {
		const { word, places, named, searcher, isJson } = asked;
		const runId = asked.runId ?? named.runId ?? (await namedOrOnlyRun(asked));
		if (places.store === undefined) {
			throw refusal(
				word,
				"a run without etcd has no other node; name the run's etcd with --rdzv-endpoint",
			);
		}
		const result = await readmitNode(runId, nodeId, places.store, searcher);
		if (result === "no-run") throw noRun(runId, places);
		if (result === "not-replaced") {
			throw new NotFound(`${nodeId} is not replaced in run ${runId}`);
		}
		printResult(
			isJson,
			{ version: 1, runId, nodeId },
			() => `${nodeId} may take part in run ${runId} again\n`,
		);
		return EXIT_CODES.succeeded;
	});
