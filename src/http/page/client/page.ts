import { controlSection } from "./control-section.js";
import { figures } from "./figures.js";
import { header, isOld } from "./headline.js";
import { incidentList } from "./incident-list.js";
import { ledgerSection } from "./ledger.js";
import type { Model } from "./model.js";
import { nodeTable } from "./node-table.js";
import { notices } from "./notices.js";
import { roundTable } from "./round-table.js";
import { seriesSection } from "./series-line.js";
import { timeSection } from "./time-section.js";
import { type Child, h } from "./tree.js";
import { workerList } from "./worker-list.js";

/** The whole page. */
export function page(model: Model): readonly Exclude<Child, null>[] {
	const { document, now } = model;
	const run = document?.run ?? null;
	const timeline = document?.timeline ?? null;
	const history = document?.history ?? null;
	const parts: readonly Child[] = [
		header(model),
		h("div", { class: "notices" }, ...notices(model)),
		h(
			"div",
			{ class: isOld(model) ? "body stale" : "body" },
			figures(model),
			seriesSection(model.series, now),
			document && ledgerSection(document),
			timeline && timeSection(timeline, model),
			run && nodeTable(run, document?.node.nodeId ?? "", now),
			document && workerList(document.node, run, now),
			timeline && incidentList(timeline, now),
			history && roundTable(history, now),
			controlSection(model),
		),
	];
	return parts.filter((part) => part !== null);
}
