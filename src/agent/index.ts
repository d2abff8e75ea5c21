export { AgentSession } from "./agent-session.js";
export type { AgentObserver, StopRequest } from "./agent-session-options.js";
export {
	type EnteredRun,
	enterRun,
	type KeptOut,
} from "./joining/enter-run.js";
export { runListener } from "./joining/run-listener.js";
export { type Ending, endingOf, leftWith } from "./machine/state.js";
export { buildReport } from "./presence/build-report.js";
export { OrderWatch } from "./presence/order-watch.js";
export { OwnNode } from "./presence/own-node.js";
export type { LauncherIo } from "./workers/node-resources.js";
export { PortReservation } from "./workers/reserve-port.js";
export { workerEnvironment } from "./workers/worker-environment.js";
