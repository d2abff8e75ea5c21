export { explainCrash, readCores } from "./crash.js";
export {
	hasEnded,
	type RaisedException,
	raisedWords,
	readException,
	traceOf,
} from "./exception.js";
export { fingerprintOf } from "./fingerprint.js";
export {
	isForeign,
	parseNodeStack,
	parsePythonStack,
	placeOf,
	whereOf,
} from "./stack.js";
export { parseTrace, type Trace, traceWords } from "./trace.js";
