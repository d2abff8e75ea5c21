export { timesPath } from "./arrival-index.js";
export {
	createConsole,
	type Followed,
	type WorkerConsole,
} from "./console-tail.js";
export {
	createLogger,
	type FileCare,
	type ProcessLogger,
} from "./create-logger.js";
export { fitLines, isScreen, redrawn } from "./draw.js";
export { FreeSpaceWatch } from "./free-space.js";
export { HeldFile } from "./held-file.js";
export { lastLines } from "./last-lines.js";
export type { LogStream, WorkerLogs } from "./log-directory.js";
export {
	type LogDirectory,
	openLogDirectory,
	workerDirectory,
} from "./log-directory.js";
export { isOrphaned } from "./log-owner.js";
export { removeOldLogs } from "./old-logs.js";
export { PinnedScreen } from "./pinned-screen.js";
export {
	plainJson,
	plainLines,
	plainMessage,
	plainText,
} from "./plain-text.js";
export { paintForRank, renderPrefix } from "./prefix.js";
export {
	planStreams,
	redirectedIn,
	type StreamPlan,
	type WorkerStreams,
} from "./worker-streams.js";
