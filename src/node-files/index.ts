export {
	endedRunsDirectory,
	forgetEndedRuns,
	readEndedRuns,
	writeEndedRun,
} from "./ended-runs.js";
export { readLinksFile, writeLinksFile } from "./links-file.js";
export {
	agentsParent,
	findLocalAgents,
	isStillThere,
	type LocalAgent,
	localBases,
	ownEntries,
} from "./local-agents.js";
export {
	decodeMirror,
	encodeMirror,
	leaveSignalOf,
	MIRROR_FILE,
	type Mirror,
	type NodeFile,
	readNodeFile,
	writeNodeFile,
} from "./node-file.js";
export {
	onNoticeRequest,
	onStopRequest,
	onWhyRequest,
	requestNotice,
	requestStop,
	requestWhy,
	takeBackRequest,
	whenTakenBack,
} from "./requests.js";
