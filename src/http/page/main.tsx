import type { StatusDocument } from "../status-document.js";
import {
	agentTime,
	answered,
	CONNECTING,
	delayOf,
	failed,
} from "./connection.js";
import type { Actions, ControlRequest, Model } from "./model.js";
import { Page } from "./page.js";
import { render } from "./parts.js";
import { addPoint, NO_SERIES } from "./series.js";

/** An agent that takes longer counts as gone. */
const PATIENCE_MS = 5_000;
const NARROWEST = 300;

const RESULTS: Readonly<Record<ControlRequest, string>> = {
	stop: "The run is being stopped on all of its nodes.",
	leave: "The node leaves the run.",
};

const root = document.getElementById("page") ?? document.body;
let timer: ReturnType<typeof setTimeout> | undefined;
let model: Model = {
	document: null,
	connection: CONNECTING,
	now: Date.now(),
	localNow: Date.now(),
	zoom: "all",
	width: widthOf(root),
	control: { token: null, asking: null, said: null },
	series: NO_SERIES,
};

const actions: Actions = {
	zoom: (zoom) => show({ zoom }),
	control: (change) =>
		show({ control: { ...model.control, said: null, ...change } }),
	request: carryOut,
};

function show(change: Partial<Model>): void {
	const localNow = Date.now();
	const { connection = model.connection } = change;
	const now = agentTime(connection, localNow);
	model = { ...model, ...change, localNow, now };
	const run = model.document?.run;
	document.title = run ? `${run.runId} – elastic-run` : "elastic-run";
	render(<Page model={model} actions={actions} />, root);
	const width = widthOf(root.querySelector(".frame") ?? root);
	// The picture is drawn for the width that it actually gets.
	if (Math.abs(width - model.width) > 1) show({ width });
}

function widthOf(element: Element): number {
	return Math.max(NARROWEST, Math.floor(element.clientWidth));
}

/** Requests the first answer at once, then polls, so that the page is connected when the agent ends and learns how. */
async function poll(): Promise<void> {
	clearTimeout(timer);
	const requestedAt = Date.now();
	show(await newest());
	clearTimeout(timer);
	const elapsed = Date.now() - requestedAt;
	timer = setTimeout(poll, delayOf(model.connection, document.hidden, elapsed));
}

async function newest(): Promise<Partial<Model>> {
	const path = model.connection.state === "live" ? "/status?wait" : "/status";
	try {
		const answer = await request("GET", path);
		if (!answer.ok) {
			const words = (await answer.text()).trim();
			return {
				connection: failed(model.connection, words, Date.now(), "refused"),
			};
		}
		const newest: StatusDocument = await answer.json();
		const { run, at } = newest;
		const connection = answered(model.connection, at, Date.now());
		const series = run ? addPoint(model.series, run, at) : model.series;
		return { document: newest, connection, series };
	} catch (error) {
		const words = wordsOf(error);
		return { connection: failed(model.connection, words, Date.now()) };
	}
}

function request(method: string, path: string): Promise<Response> {
	const { token } = model.control;
	const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
	const signal = AbortSignal.timeout(PATIENCE_MS);
	return fetch(path, { method, headers, signal, cache: "no-store" });
}

async function carryOut(requested: ControlRequest): Promise<void> {
	actions.control({ asking: null, said: "asking …" });
	try {
		const answer = await request("POST", `/${requested}`);
		const said = answer.ok ? RESULTS[requested] : (await answer.text()).trim();
		// Another token may be the right one.
		actions.control(answer.status === 401 ? { said, token: null } : { said });
	} catch (error) {
		actions.control({ said: `the request failed: ${wordsOf(error)}` });
	}
}

function wordsOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

new ResizeObserver(() => show({})).observe(root);
document.addEventListener("visibilitychange", () => {
	if (!document.hidden) void poll();
});
show({});
void poll();
