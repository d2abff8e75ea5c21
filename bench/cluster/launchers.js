import { CLI, PYTHON } from "../launchers.js";

/**
 * One agent of a run over several, all of them on this machine.
 *
 * @typedef {object} AgentRequest
 * @property {string} [cli] elastic-run's command: this build's unless given
 * @property {string} nodes `--nnodes`
 * @property {string} nodeId
 * @property {number} workers
 * @property {string} runId
 * @property {string} endpoint where the agents meet
 * @property {Readonly<Record<string, number>>} conf of `--rdzv-conf`, in seconds
 * @property {readonly string[]} flags of elastic-run
 * @property {string} directory for its files
 * @property {readonly string[]} program of the workers
 */

/**
 * The commands with which launchers start an agent, by the launcher's name.
 * @type {Readonly<Record<string, (request: AgentRequest) => string[]>>}
 */
export const AGENT_COMMANDS = {
	"elastic-run": (request) => [
		process.execPath,
		request.cli ?? CLI,
		...["--nnodes", request.nodes],
		...["--nproc-per-node", String(request.workers)],
		...["--run-id", request.runId, "--node-id", request.nodeId],
		...["--rdzv-endpoint", request.endpoint, ...confFlag(request)],
		...request.flags,
		...["--log-dir", request.directory, "--no-node"],
		...request.program,
	],
	torchrun: (request) => [
		PYTHON,
		...["-m", "torch.distributed.run", "--no-python"],
		...["--nnodes", request.nodes],
		...["--nproc-per-node", String(request.workers)],
		...["--rdzv-backend", "c10d", "--rdzv-id", request.runId],
		...["--rdzv-endpoint", request.endpoint, ...confFlag(request)],
		...["--local-addr", "127.0.0.1", "--max-restarts", "3"],
		...["--log-dir", request.directory, "--redirects", "3"],
		...request.program,
	],
};

/**
 * What torchrun 2.13 needs in its environment. Its workers share the agent's store, and no round's keys are apart from
 * the last one's: gloo finds the addresses of dead workers, and a third agent cannot be taken in.
 */
export const AGENT_ENVIRONMENT = { TORCH_DISABLE_SHARE_RDZV_TCP_STORE: "1" };

function confFlag({ conf }) {
	const settings = Object.entries(conf).map(
		([name, seconds]) => `${name}=${seconds}`,
	);
	return settings.length === 0 ? [] : ["--rdzv-conf", settings.join(",")];
}
