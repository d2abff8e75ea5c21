import type { Cleanups } from "../base/cleanups.js";
import { backgroundClock } from "../base/clock.js";
import { ElasticRunError, messageOf } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import type { AgentPhase } from "../status/index.js";
import { type Answer, type HttpRequest, words } from "./answer.js";
import { openServer } from "./server.js";

/** Every address: the kubelet asks at the pod's. */
const EVERY_ADDRESS = "::";

/** Where a start-up probe asks. */
export interface ProbePlace {
	readonly port: number;
	/** It answers at each of them. They begin with a slash. */
	readonly paths: readonly string[];
}

/** A node, as far as its probe tells of it. */
export interface ProbedNode {
	readonly phase: AgentPhase;
	/** The round that it is in, or was in. */
	readonly round: number;
	/** The round that it waits for. */
	readonly claim: number;
}

/** What the probe answers: 200 from the beginning of a round until it is left. */
export function answerProbe(
	{ method, path }: Pick<HttpRequest, "method" | "path">,
	wanted: readonly string[],
	node: ProbedNode | undefined,
): Answer {
	if (!wanted.includes(path)) {
		return words(404, `ask for ${wanted.join(" or ")}`);
	}
	if (method !== "GET" && method !== "HEAD") {
		return words(405, "use GET", { Allow: "GET, HEAD" });
	}
	if (node === undefined) return words(503, "joining the run");
	switch (node.phase) {
		case "RUNNING":
		case "FINISHED":
			return words(200, `round ${node.round} has begun`);
		case "JOINING":
			return words(503, `waiting for round ${node.claim}`);
		case "STOPPING":
		case "CLOSED":
			return words(503, "the round is over");
		default:
			return node.phase satisfies never;
	}
}

/**
 * Opens the server that a start-up probe asks.
 * @param node as its agent knows it; undefined before that has joined a run
 * @throws ElasticRunError USAGE if it cannot listen
 */
export async function openProbe(
	{ port, paths }: ProbePlace,
	{ cleanups, log }: { readonly cleanups: Cleanups; readonly log: Logger },
	node: () => ProbedNode | undefined,
): Promise<void> {
	try {
		const server = await openServer({
			address: { host: EVERY_ADDRESS, port },
			clock: backgroundClock,
			isProbe: (asked) => paths.includes(asked),
			answer: async (request) => answerProbe(request, paths, node()),
			onError: (error) => log.warn(`the probe: ${messageOf(error)}`),
		});
		cleanups.add("closing the probe", async () => server.close());
		log.info(
			`the probe answers at port ${server.port}, ${paths.join(" and ")}`,
		);
	} catch (error) {
		throw new ElasticRunError(
			"USAGE",
			`--probe-port ${port}: cannot listen: ${messageOf(error)}`,
			{ cause: error },
		);
	}
}
