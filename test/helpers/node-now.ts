import type { NodeNow } from "../../src/status/node-document.js";

/** A node that joins its run, but for what is given. */
export function nodeNow(change: Partial<NodeNow> = {}): NodeNow {
	return {
		phase: "JOINING",
		since: 1_000,
		eventAt: 1_000,
		waitsFor: null,
		workers: [],
		readiness: { isReady: false, reason: "" },
		round: null,
		links: null,
		...change,
	};
}
