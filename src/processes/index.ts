export {
	controlGroupPaths,
	readOomKills,
} from "./control-group.js";
export {
	describeExit,
	describeOomKills,
	type OomKills,
	OUT_OF_MEMORY,
	STOP_CODES,
	signalOf,
} from "./describe-exit.js";
export { watchEscapees } from "./escapees.js";
export { ExitFileSpawner, exitCodeIn } from "./exit-file-spawner.js";
export { type Guard, startGuard } from "./guard.js";
export { endLeftBehind } from "./left-behind.js";
export { agentMark, newIncarnation, pid1Warning } from "./own-process.js";
export { signalGroup, signalProcess } from "./process-group.js";
export { openProcessSpawner } from "./process-spawner.js";
export { type GroupRegistry, RunningWorkers } from "./running-workers.js";
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
