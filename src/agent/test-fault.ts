import { ElasticRunError } from "../errors.js";
import type { Store } from "../rendezvous/store.js";
import { TEST_FAULT_VARIABLE } from "./configuration/environment.js";

/** What a test lets an agent suffer; nobody else sets the variable. */
export interface TestFault {
	/** The process is killed when so many of its writes stand in the store, before it does anything else. */
	readonly diesAfterWrite: number;
	/** Writes that one transaction of a coordinator may hold: small ones let it die between the batches of a plan. */
	readonly batchSize: number | undefined;
}

/**
 * Reads `write=N` or `write=N,batch=M`; undefined where the variable is not set.
 * @throws ElasticRunError USAGE where it says anything else
 */
export function testFaultOf(
	environment: Readonly<Record<string, string | undefined>>,
): TestFault | undefined {
	const text = environment[TEST_FAULT_VARIABLE];
	if (!text) return undefined;
	const match = /^write=([1-9]\d*)(?:,batch=([1-9]\d*))?$/.exec(text);
	if (match === null) {
		throw new ElasticRunError(
			"USAGE",
			`environment ${TEST_FAULT_VARIABLE} is "${text}"; it is for tests of elastic-run itself, and says write=N or write=N,batch=M: unset it`,
		);
	}
	const [, write, batch] = match;
	return {
		diesAfterWrite: Number(write),
		batchSize: batch === undefined ? undefined : Number(batch),
	};
}

/**
 * The store as it is, but for what a fault says.
 * @param die ends the process, and does not return
 */
export function withTestFault(
	store: Store,
	fault: TestFault | undefined,
	die: () => void,
): Store {
	if (fault === undefined) return store;
	let written = 0;
	return {
		openLease: (...words) => store.openLease(...words),
		endLease: (...words) => store.endLease(...words),
		snapshot: (...words) => store.snapshot(...words),
		watch: (...words) => store.watch(...words),
		close: () => store.close(),
		transaction: async (...words) => {
			const result = await store.transaction(...words);
			if (result.succeeded && ++written === fault.diesAfterWrite) die();
			return result;
		},
	};
}
