import type { Model } from "./model.js";
import { plain } from "./plain.js";
import type { Standing } from "./standing.js";
import { type Child, h, type Tree } from "./tree.js";
import { ago, clockTime } from "./words.js";

/** What the reader must know first; empty if all is well. */
export function notices(model: Model): readonly Child[] {
	const { connection, document, localNow, now } = model;
	const run = document?.run ?? null;
	const waiting = run?.waiting ?? null;
	return [
		lostNotice(model),
		connection.state === "refused"
			? notice(
					"bad",
					"The agent shows this page's data only with its token",
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
			`The run ${outcome.result === "stopped" ? "was stopped" : outcome.result}, and this agent has gone`,
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
