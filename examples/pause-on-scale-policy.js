// A restart policy of one's own: as `soft`, but the run's budget pays for each
// failure, so that a run in which worker after worker dies, each on another node,
// ends after --max-restarts of them.
//
//   elastic-run --restart-policy examples/pause-on-scale-policy.js --nnodes 1:4 train.js
//
// Nodes come or go, or a worker of another node failed: workers keep their
// processes, and are told by PAUSE and WORK. A worker of this node failed: all
// workers of this node start again.

/** @implements {import("elastic-run").RestartPolicyStrategy} */
export default class PauseOnScalePolicy {
	name = "pause-on-scale";

	/** @returns {import("elastic-run").RestartDecision} */
	onScaleUp({ cause }) {
		return { workers: "pause", charge: "nothing", reason: cause };
	}

	/** @returns {import("elastic-run").RestartDecision} */
	onScaleDown({ cause }) {
		return { workers: "pause", charge: "nothing", reason: cause };
	}

	/** @returns {import("elastic-run").RestartDecision} */
	onWorkerFailure({ cause }) {
		return { workers: "restart", charge: "run", reason: cause };
	}
}
