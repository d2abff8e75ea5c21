import { formatCount } from "../../base/units.js";
import type { RunDocument } from "../../status/index.js";
import { type Health, healthOf, stragglerOf } from "./health.js";
import { isOld, type Model } from "./model.js";
import type { Standing } from "./parts.js";
import { ago, capital, clockTime, plain } from "./words.js";

type Headline = readonly [standing: Standing, word: string, sentence: string];

const SIGNS = { good: "●", busy: "◐", bad: "✕", over: "■" } as const;
const RESULTS = { succeeded: "good", failed: "bad", stopped: "over" } as const;

export function headlineOf(run: RunDocument, now: number): Headline {
	const { phase, round, since, outcome, world } = run;
	const time = since === null ? "" : `, since ${ago(since, now)}`;
	switch (phase) {
		case "forming":
			return ["busy", phase, `the first round is being formed${time}`];
		case "running": {
			const workers = formatCount(world?.worldSize ?? 0, "worker");
			const nodes = formatCount(world?.groupWorldSize ?? 0, "node");
			return ["good", phase, `round ${round}${time}: ${workers} on ${nodes}`];
		}
		case "leaving":
			return ["busy", phase, `round ${round} is being left${time}`];
		case "waiting": {
			const words = `round ${round} is over, round ${round + 1} has not begun`;
			return ["busy", "between rounds", `${words}${time}`];
		}
		case "ended": {
			const { result = "stopped", reason = "", exitCode = 0 } = outcome ?? {};
			const when = since === null ? "" : `, ${ago(since, now)} ago`;
			const words = `exit code ${exitCode}${when}: ${plain(reason)}`;
			return [RESULTS[result], result, words];
		}
		case "abandoned":
			return ["over", phase, "it has not ended, but has no agents"];
		default:
			return phase satisfies never;
	}
}

interface ModelProps {
	readonly model: Model;
}

/** Run, phase, and whether all of this is current. */
export function Header({ model }: ModelProps) {
	const { document, connection, localNow } = model;
	const { state, since } = connection;
	const run = document?.run;
	const liveness = {
		connecting: "asking the agent …",
		live: `live, ${document?.node.nodeId ?? ""}`,
		lost: `no answer for ${ago(since, localNow)}`,
		refused: "refused",
	};
	return (
		<header>
			<div class="heading">
				<h1>{run?.runId ?? "elastic-run"}</h1>
				<small class={`liveness ${state}`}>{liveness[state]}</small>
			</div>
			{run && <RunStanding run={run} model={model} />}
		</header>
	);
}

function RunStanding({
	run,
	model,
}: ModelProps & { readonly run: RunDocument }) {
	const { now, document } = model;
	const [standing, word, sentence] = headlineOf(run, now);
	const badge = isOld(model) ? "over" : standing;
	const elapsedMs = now - (document?.at ?? now);
	// What an agent that does not answer has said of steps is no longer true.
	return (
		<>
			<p class="standing" role="status">
				<span class={`badge ${badge}`}>
					<span aria-hidden="true">{SIGNS[badge]}</span>
					{isOld(model) ? ` last seen ${word}` : ` ${word}`}
				</span>
				<span>{sentence}</span>
			</p>
			{!isOld(model) && <HealthLine health={healthOf(run, elapsedMs)} />}
			{!isOld(model) && <HealthLine health={stragglerOf(run)} />}
		</>
	);
}

function HealthLine({ health }: { readonly health: Health | null }) {
	if (health === null) return null;
	const [standing, sentence] = health;
	return (
		<p class={`health ${standing}`} role="status">
			{sentence}
		</p>
	);
}

type Notice = readonly [
	subject: string,
	standing: Standing,
	title: string,
	text: string,
];

/** What the reader must know first; empty if all is well. */
export function Notices({ model }: ModelProps) {
	return noticesOf(model).map(([subject, standing, title, text]) => (
		<p key={subject} class={`notice ${standing}`} role="status">
			<strong>{title}</strong>
			<span>{text}</span>
		</p>
	));
}

function noticesOf(model: Model): readonly Notice[] {
	const { connection, document, localNow, now } = model;
	const problem = plain(document?.problem ?? "");
	const waiting = document?.run?.waiting;
	const notices: Notice[] = [];
	if (connection.state === "lost") notices.push(lostNotice(model));
	if (connection.state === "refused") {
		const title = "The agent shows this page's data only with its token";
		notices.push(["token", "bad", title, connection.problem]);
	}
	if (problem !== "") {
		notices.push(["age", "busy", "What is below may not be of now", problem]);
	} else if (document?.run === null) {
		const title = "This agent has not joined its run yet";
		notices.push(["joining", "busy", title, document.node.waitsFor ?? ""]);
	}
	if (waiting) {
		const { words, since } = waiting;
		const text = since === null ? "" : sinceInWords(since, localNow, now);
		notices.push(["waiting", "busy", capital(plain(words)), text]);
	}
	return notices;
}

function lostNotice({ connection, document, localNow }: Model): Notice {
	const since = connection.since ?? localNow;
	const time = sinceInWords(since, localNow, localNow);
	const result = document?.run?.outcome?.result;
	if (result !== undefined) {
		const end = result === "stopped" ? "was stopped" : result;
		const title = `The run ${end}, and this agent has gone`;
		return ["agent", "over", title, `It has not answered ${time}.`];
	}
	const below =
		document === null ? "" : " What is below is the last that it reported.";
	const text = `It has ended, or cannot be reached: ${connection.problem}.${below}`;
	return ["agent", "bad", `The agent has not answered ${time}`, text];
}

function sinceInWords(time: number, localNow: number, now: number): string {
	return `since ${clockTime(time, localNow)} (${ago(time, now)})`;
}
