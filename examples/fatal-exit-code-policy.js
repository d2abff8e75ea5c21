// A restart policy of one's own: a worker that exits with 42 says that another
// try cannot help (bad data, a wrong flag), and the run fails at once, whatever
// is left of its budget. Anything else restarts all workers, as usual.
//
//   elastic-run --restart-policy examples/fatal-exit-code-policy.js train.js
const FATAL_EXIT_CODE = 42;

/** @implements {import("elastic-run").RestartPolicyStrategy} */
export default class FatalExitCodePolicy {
	name = "fatal-exit-code";

	/** @returns {import("elastic-run").RestartDecision} */
	onScaleUp({ cause }) {
		return { workers: "restart", charge: "nothing", reason: cause };
	}

	/** @returns {import("elastic-run").RestartDecision} */
	onScaleDown({ cause }) {
		return { workers: "restart", charge: "nothing", reason: cause };
	}

	/** @returns {import("elastic-run").RestartDecision} */
	onWorkerFailure({ rank, exitCode, cause }) {
		if (exitCode === FATAL_EXIT_CODE) {
			return {
				workers: "fail-run",
				charge: "nothing",
				reason: `rank ${rank} exited with ${FATAL_EXIT_CODE}: another try cannot help`,
			};
		}
		return { workers: "restart", charge: "run", reason: cause };
	}
}
