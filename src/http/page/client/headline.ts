import { formatCount } from "../../../base/units.js";
import type { RunStatus } from "../../../rendezvous/describe/run-status.js";
import type { Outcome } from "../../../rendezvous/records/records.js";
import { healthOf } from "./health.js";
import type { Model } from "./model.js";
import { plain } from "./plain.js";
import type { Standing } from "./standing.js";
import { h, type Tree } from "./tree.js";
import { ago } from "./words.js";

interface Headline {
	readonly standing: Standing;
	readonly word: string;
	readonly sentence: string;
}

const SIGNS: Readonly<Record<Standing, string>> = {
	good: "●",
	busy: "◐",
	bad: "✕",
	over: "■",
};

const STANDINGS: Readonly<Record<Outcome["result"], Standing>> = {
	succeeded: "good",
	failed: "bad",
	stopped: "over",
};

export function headlineOf(run: RunStatus, now: number): Headline {
	const { phase, round, since, outcome, world } = run;
	const time = since === null ? "" : `, since ${ago(since, now)}`;
	switch (phase) {
		case "forming":
			return {
				...{ standing: "busy", word: "forming" },
				sentence: `the first round is being formed${time}`,
			};
		case "running":
			return {
				...{ standing: "good", word: "running" },
				sentence: `round ${round}${time}: ${formatCount(world?.worldSize ?? 0, "worker")} on ${formatCount(world?.groupWorldSize ?? 0, "node")}`,
			};
		case "leaving":
			return {
				...{ standing: "busy", word: "leaving" },
				sentence: `round ${round} is being left${time}`,
			};
		case "waiting":
			return {
				...{ standing: "busy", word: "between rounds" },
				sentence: `round ${round} is over, round ${round + 1} has not begun${time}`,
			};
		case "ended": {
			const { result = "stopped", reason = "", exitCode = 0 } = outcome ?? {};
			const when = since === null ? "" : `, ${ago(since, now)} ago`;
			return {
				...{ standing: STANDINGS[result], word: result },
				sentence: `exit code ${exitCode}${when}: ${plain(reason)}`,
			};
		}
		case "abandoned":
			return {
				...{ standing: "over", word: "abandoned" },
				sentence: "it has not ended, but has no agents",
			};
		default:
			return phase satisfies never;
	}
}

/** Whether more may have happened than the agent has told. After an outcome nothing does. */
export function isOld({ connection, document }: Model): boolean {
	return connection.state === "lost" && !document?.run?.outcome;
}

/** Run, phase, and whether all of this is current. */
export function header(model: Model): Tree {
	const run = model.document?.run ?? null;
	const told = run && headlineOf(run, model.now);
	const headline: Headline | null =
		told && isOld(model)
			? { ...told, standing: "over", word: `last seen ${told.word}` }
			: told;
	return h(
		"header",
		{},
		h(
			"div",
			{ class: "title" },
			h("h1", {}, run?.runId ?? "elastic-run"),
			liveness(model),
		),
		headline
			? h(
					"p",
					{ class: "standing", role: "status" },
					h(
						"span",
						{ class: `badge ${headline.standing}` },
						h("span", { "aria-hidden": "true" }, SIGNS[headline.standing]),
						` ${headline.word}`,
					),
					h("span", { class: "sentence" }, headline.sentence),
				)
			: null,
		...healthLines(model),
	);
}

/** What an agent that does not answer has said of steps is no longer true. */
function healthLines(model: Model): readonly Tree[] {
	const { document, now } = model;
	if (!document?.run || isOld(model)) return [];
	return healthOf(document.run, now - document.at).map(
		({ standing, sentence }) =>
			h("p", { class: `health ${standing}`, role: "status" }, sentence),
	);
}

function liveness({ connection, localNow, document }: Model): Tree {
	const { state, answeredAt } = connection;
	const words = {
		connecting: "asking the agent …",
		live: `live, ${document?.node.nodeId ?? ""}`,
		lost: `no answer${answeredAt === null ? "" : ` for ${ago(answeredAt, localNow)}`}`,
		refused: "refused",
	};
	return h("span", { class: `liveness ${state}` }, words[state]);
}
