import type { EventSource } from "./event-source.js";
import type { WorkerSession } from "./worker-session.js";

/** State shared by all copies of this library in one thread: it exists as an ES module and as CommonJS. */
export interface SharedState {
	session: WorkerSession | undefined;
	/** Absent in the state of a copy that knew no notices. */
	source?: EventSource | undefined;
	recordsErrors: boolean;
	/** Whether the launcher's hook was started, or shall not be. */
	hasHook: boolean;
}

/** The number rises with any change to what copies of different versions would share. */
const KEY = Symbol.for("elastic-run.runtime.1");

export function sharedState(): SharedState {
	const found: unknown = Reflect.get(globalThis, KEY);
	if (isSharedState(found)) return found;
	const state: SharedState = {
		session: undefined,
		recordsErrors: false,
		hasHook: false,
	};
	Object.defineProperty(globalThis, KEY, { value: state });
	return state;
}

function isSharedState(value: unknown): value is SharedState {
	return (
		typeof value === "object" && value !== null && "recordsErrors" in value
	);
}
