export { explainCrash, readCores } from "./crash.js";
export {
	hasEnded,
	type RaisedException,
	raisedWords,
	readException,
	traceOf,
} from "./exception.js";
export { fingerprintOf, isInVain } from "./fingerprint.js";
export { ANNOUNCE_PHASE, hintOn, phaseHint } from "./hints.js";
export {
	isForeign,
	ownFrames,
	parseNodeStack,
	parsePythonStack,
	placeOf,
	whereOf,
} from "./stack.js";
export {
	parseTrace,
	type Trace,
	traceWords,
	withoutLibraries,
} from "./trace.js";
