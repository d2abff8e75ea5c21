import type { RunStatus } from "../../../../rendezvous/run-status.js";
import { formatCount } from "../../../report/units.js";
import type { Model } from "./model.js";
import { plain } from "./plain.js";
import { type Child, h, type Tree } from "./tree.js";
import { ago, clockTime, duration } from "./words.js";

/** How the run stands, in one word: its colour and its sign go by it. */
export type Standing = "good" | "busy" | "bad" | "over";

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
			const standing = { succeeded: "good", failed: "bad", stopped: "over" };
			return {
				standing: standing[result] as Standing,
				word: result,
				sentence: `exit code ${exitCode}${time === "" ? "" : `, ${time.slice(8)} ago`}: ${plain(reason)}`,
			};
		}
		case "abandoned":
			return {
				...{ standing: "over", word: "abandoned" },
				sentence: "it has not ended, but none of its agents is there",
			};
		default:
			return phase satisfies never;
	}
}

/** Run, phase, and whether all of this is of now. */
export function header(model: Model): Tree {
	const run = model.document?.run ?? null;
	const headline = run && headlineOf(run, model.now);
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

/** What a reader has to know before the rest: nothing where all is well. */
export function notices(model: Model): readonly Child[] {
	const { connection, document, localNow, now } = model;
	const run = document?.run ?? null;
	const waiting = run?.waiting ?? null;
	return [
		lostNotice(model),
		connection.state === "refused"
			? notice(
					"bad",
					"The agent shows this page's data to nobody without its token",
					connection.problem,
				)
			: null,
		document?.problem
			? notice(
					"busy",
					"What is below may not be of now",
					plain(document.problem),
				)
			: null,
		document !== null && run === null && !document.problem
			? notice(
					"busy",
					"This agent has not joined its run yet",
					document.node.waitsFor ?? "",
				)
			: null,
		waiting === null
			? null
			: notice(
					"busy",
					capital(plain(waiting.words)),
					waiting.since === null
						? ""
						: `since ${clockTime(waiting.since, localNow)} (${ago(waiting.since, now)})`,
				),
	];
}

function lostNotice({ connection, document, localNow }: Model): Child {
	const { state, failingSince, answeredAt, problem } = connection;
	if (state !== "lost" || failingSince === null) return null;
	const since = `${clockTime(failingSince, localNow)} (${ago(failingSince, localNow)})`;
	if (answeredAt === null) {
		return notice("bad", `The agent has not answered since ${since}`, problem);
	}
	const outcome = document?.run?.outcome ?? null;
	if (outcome !== null) {
		return notice(
			"over",
			`The run ${outcome.result}, and this agent has gone`,
			`It answered last at ${since}.`,
		);
	}
	return notice(
		"bad",
		`The agent has not answered since ${since}`,
		`It has ended, or cannot be reached: ${problem}. What is below is the last that it told.`,
	);
}

function notice(standing: Standing, title: string, text: string): Tree {
	return h(
		"p",
		{ class: `notice ${standing}`, role: "status" },
		h("strong", {}, title),
		text === "" ? null : h("span", {}, text),
	);
}

function capital(words: string): string {
	return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** The run in figures. */
export function figures({ document, now }: Model): Child {
	const run = document?.run ?? null;
	if (run === null) return null;
	const { restarts, world, minNodes, maxNodes, incidents, round } = run;
	const told = document?.history?.instances.find(
		({ instance }) => instance === run.instance,
	);
	const asked =
		minNodes === maxNodes ? `${maxNodes}` : `${minNodes} to ${maxNodes}`;
	const share = told?.ranShare ?? null;
	const repairs = told?.repairs;
	return h(
		"dl",
		{ class: "figures" },
		figure(
			"round",
			round === 0 ? "–" : String(round),
			run.since === null
				? ""
				: `${run.phase} since ${clockTime(run.since, now)}`,
		),
		figure(
			"workers",
			String(world?.worldSize ?? "–"),
			world
				? `on ${formatCount(world.groupWorldSize, "node")}, ${asked} asked for`
				: `${asked} nodes asked for`,
		),
		figure(
			"restarts left",
			restarts === null ? "–" : `${restarts.left}`,
			restarts === null
				? ""
				: `of ${restarts.allowed}, policy ${run.policy ?? ""}`,
		),
		figure(
			"incidents",
			String(incidents),
			run.lastIncident?.at == null
				? ""
				: `last ${ago(run.lastIncident.at, now)} ago`,
		),
		figure(
			"workers ran",
			share === null ? "–" : `${(share * 100).toFixed(1)} %`,
			told ? `of ${duration(told.elapsedMs)}` : "",
		),
		figure(
			"mean repair",
			duration(repairs?.meanMs ?? null),
			repairs?.longestMs == null
				? ""
				: `longest ${duration(repairs.longestMs)}`,
		),
	);
}

function figure(name: string, value: string, more: string): Tree {
	return h(
		"div",
		{},
		h("dt", {}, name),
		h("dd", { class: "value" }, value),
		h("dd", { class: "more" }, more),
	);
}
