import { get as getPlain } from "node:http";
import { get as getSecure } from "node:https";
import type { Clock } from "../base/clock.js";
import type { StoreConfig } from "../config/agent-config.js";
import type { NodeMeasures } from "./judge-node.js";

const ANSWER_WITHIN_MS = 400;
/** The header counts whole seconds, rounded down. */
const HALF_A_SECOND_MS = 500;

/** Compares this clock with that of the first etcd, by the Date header of an answer. Undefined if it does not answer. */
export function askClock(
	{ endpoints, credentials }: Pick<StoreConfig, "endpoints" | "credentials">,
	clock: Clock,
): Promise<NodeMeasures["clock"]> {
	const [endpoint] = endpoints;
	if (endpoint === undefined) return Promise.resolve(undefined);
	const isSecure = endpoint.startsWith("https://");
	const url = `${isSecure ? "" : "http://"}${endpoint}/version`;
	return new Promise((resolve) => {
		const asked = clock.now();
		const settings = { timeout: ANSWER_WITHIN_MS, agent: false as const };
		const request = isSecure
			? getSecure(url, { ...settings, ...credentials.tls })
			: getPlain(url, settings);
		const give = (answer: NodeMeasures["clock"]) => {
			cancel();
			resolve(answer);
			request.destroy();
		};
		const cancel = clock.wakeAt(asked + ANSWER_WITHIN_MS, () =>
			give(undefined),
		);
		request.on("error", () => give(undefined));
		request.on("response", ({ headers }) => {
			const there = Date.parse(headers.date ?? "") + HALF_A_SECOND_MS;
			const halfWayMs = (clock.now() - asked) / 2;
			const aheadMs = clock.wallTime() - halfWayMs - there;
			const uncertainMs = HALF_A_SECOND_MS + halfWayMs;
			give(Number.isNaN(aheadMs) ? undefined : { aheadMs, uncertainMs });
		});
	});
}
