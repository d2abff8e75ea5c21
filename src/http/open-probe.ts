import type { AgentObserver } from "../agent/agent-observer.js";
import type { AgentState } from "../agent/machine/state.js";
import type { Cleanups } from "../base/cleanups.js";
import { backgroundClock } from "../base/clock.js";
import { ElasticRunError, messageOf } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import { type Answer, type Asked, words } from "./answer.js";
import { openServer } from "./server.js";

/** Every address: the kubelet asks at the pod's. */
const EVERY_ADDRESS = "::";

/** Where a start-up probe asks. */
export interface ProbePlace {
	readonly port: number;
	/** Begins with a slash. */
	readonly path: string;
}

/** What the probe answers: 200 from the beginning of a round until it is left. */
export function answerProbe(
	{ method, path }: Pick<Asked, "method" | "path">,
	wanted: string,
	state: AgentState | undefined,
): Answer {
	if (path !== wanted) return words(404, `ask for ${wanted}`);
	if (method !== "GET" && method !== "HEAD") {
		return words(405, "use GET", { Allow: "GET, HEAD" });
	}
	switch (state?.phase) {
		case "RUNNING":
		case "FINISHED":
			return words(200, `round ${state.round} has begun`);
		case "JOINING":
			return words(503, `waiting for round ${state.claim}`);
		case "STOPPING":
		case "CLOSED":
			return words(503, "the round is over");
		case undefined:
			return words(503, "joining the run");
		default:
			return state satisfies never;
	}
}

/**
 * Opens the server that a start-up probe asks.
 * @throws ElasticRunError USAGE if it cannot listen
 */
export async function openProbe(
	{ port, path }: ProbePlace,
	{ cleanups, log }: { readonly cleanups: Cleanups; readonly log: Logger },
): Promise<AgentObserver> {
	let state: AgentState | undefined;
	try {
		const server = await openServer({
			address: { host: EVERY_ADDRESS, port },
			clock: backgroundClock,
			isProbe: (asked) => asked === path,
			answer: async (asked) => answerProbe(asked, path, state),
			onError: (error) => log.warn(`the probe: ${messageOf(error)}`),
		});
		cleanups.add("closing the probe", async () => server.close());
		log.info(`the probe answers at port ${server.port}, ${path}`);
	} catch (error) {
		throw new ElasticRunError(
			"USAGE",
			`--probe-port ${port}: cannot listen: ${messageOf(error)}`,
			{ cause: error },
		);
	}
	return {
		joined: () => {},
		noting: (logs) => logs,
		follow: (next) => {
			state = next;
		},
		hung: () => {},
	};
}
