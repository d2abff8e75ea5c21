export type { AgentStatus } from "./agent-status.js";
export {
	type LaunchConfig,
	type LaunchedAgent,
	startAgent,
} from "./program.js";
