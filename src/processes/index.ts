export { type ControlGroupFile, controlGroupPaths } from "./control-group.js";
export {
	describeExit,
	type OomKills,
	OUT_OF_MEMORY,
	STOP_CODES,
	signalOf,
} from "./describe-exit.js";
export { watchEscapees } from "./escapees.js";
export { ExitFileSpawner, exitCodeIn } from "./exit-file-spawner.js";
export { startGuard } from "./guard.js";
export { newIncarnation } from "./incarnation.js";
export { endLeftBehind } from "./left-behind.js";
export { agentMark } from "./marked-processes.js";
export { readOomKills } from "./oom-kills.js";
export { signalGroup, signalProcess } from "./process-group.js";
export { loadProcessSpawner } from "./process-spawner.js";
export { pid1Warning } from "./reap-warning.js";
export { RunningWorkers } from "./running-workers.js";
export { findSetpriv, killWithParent } from "./setpriv.js";
export { describeShellEnd, runShell } from "./shell-command.js";
export type {
	NextStreams,
	SpawnProblem,
	WorkerExit,
	WorkerHandle,
	WorkerListener,
	WorkerSpawner,
	WorkerSpec,
} from "./worker.js";
export type { GroupRegistry } from "./worker-process.js";
