import type { Store } from "../../store/index.js";
import type { PortReservation } from "../workers/reserve-port.js";
import type { EnterRunOptions } from "./enter-run.js";
import {
	type ReplacePlace,
	type ReplaceSettings,
	replaceNode,
} from "./replace-node.js";

/** What an agent does for its membership. */
export function runListener(
	config: ReplaceSettings,
	place: ReplacePlace,
	{
		ports,
		opening,
	}: {
		readonly ports: Pick<PortReservation, "reserve">;
		readonly opening: Promise<Store>;
	},
): EnterRunOptions["listener"] {
	const { log } = place;
	return {
		reservePort: (round, nodeId, instance) =>
			ports.reserve({ node: `${config.runId}/${instance}/${nodeId}`, round }),
		onPlanReason: (reason) => log.debug(reason),
		onSkipped: (words) => log.warn(words),
		onReplace: (record) => void replaceNode(record, config, place, opening),
	};
}
