import type { StatusDocument } from "../../status-document.js";
import {
	agentTime,
	answered,
	CONNECTING,
	delayOf,
	failed,
} from "./connection.js";
import { saidOf } from "./control-section.js";
import type { ControlRequest, Model } from "./model.js";
import { page } from "./page.js";
import { patch } from "./patch.js";
import { addPoint, NO_SERIES } from "./series.js";
import { stepFrom } from "./step.js";
import { ZOOMS } from "./time-window.js";
import { Tip } from "./tip.js";

/** An agent that takes longer counts as gone. */
const PATIENCE_MS = 5_000;
const NARROWEST = 300;

const root = document.getElementById("page") ?? document.body;
const tip = new Tip(document.body);
let timer: ReturnType<typeof setTimeout> | undefined;
let model: Model = {
	document: null,
	connection: CONNECTING,
	now: Date.now(),
	localNow: Date.now(),
	zoom: "all",
	width: widthOf(root),
	mark: null,
	control: { token: null, asking: null, said: null },
	series: NO_SERIES,
};

function show(change: Partial<Model>): void {
	const localNow = Date.now();
	const { connection = model.connection } = change;
	const now = agentTime(connection, localNow);
	model = { ...model, ...change, localNow, now };
	const run = model.document?.run;
	document.title = run ? `${run.runId} – elastic-run` : "elastic-run";
	patch(root, page(model));
	tip.refresh();
	const frame = root.querySelector("[data-measure=width]");
	const width = widthOf(frame ?? root);
	// The picture is drawn for the width that it actually gets.
	if (Math.abs(width - model.width) > 1) show({ width });
}

function widthOf(element: Element): number {
	return Math.max(NARROWEST, Math.floor(element.clientWidth));
}

/** Fetches the first answer at once, then polls, so that the page is connected when the agent ends and hears how. */
async function ask(): Promise<void> {
	clearTimeout(timer);
	const askedAt = Date.now();
	const path = model.connection.state === "live" ? "/status?wait" : "/status";
	try {
		const answer = await request("GET", path);
		if (answer.ok) {
			const told: StatusDocument = await answer.json();
			const connection = answered(model.connection, told.at, Date.now());
			const { run, at } = told;
			const series = run ? addPoint(model.series, run, at) : model.series;
			show({ document: told, connection, series });
		} else {
			const words = (await answer.text()).trim();
			show({
				connection: failed(model.connection, words, Date.now(), true),
			});
		}
	} catch (error) {
		const problem = error instanceof Error ? error.message : String(error);
		show({ connection: failed(model.connection, problem, Date.now()) });
	}
	clearTimeout(timer);
	const elapsed = Date.now() - askedAt;
	timer = setTimeout(ask, delayOf(model.connection, document.hidden, elapsed));
}

function request(method: string, path: string): Promise<Response> {
	const { token } = model.control;
	const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
	const signal = AbortSignal.timeout(PATIENCE_MS);
	return fetch(path, { method, headers, signal, cache: "no-store" });
}

function control(change: Partial<Model["control"]>): void {
	show({ control: { ...model.control, said: null, ...change } });
}

async function carryOut(requested: ControlRequest): Promise<void> {
	control({ asking: null, said: "asking …" });
	try {
		const answer = await request("POST", `/${requested}`);
		const said = saidOf(requested, answer.ok, await answer.text());
		// Another token may be the right one.
		control(answer.status === 401 ? { said, token: null } : { said });
	} catch (error) {
		const problem = error instanceof Error ? error.message : String(error);
		control({ said: `the request failed: ${problem}` });
	}
}

function useToken(): void {
	const field = document.getElementById("token");
	const token = field instanceof HTMLInputElement ? field.value.trim() : "";
	if (token !== "") control({ token });
}

function isWish(value: string | undefined): value is ControlRequest {
	return value === "leave" || value === "stop";
}

/** Carries out a button's request. */
function act({ action, value }: DOMStringMap): void {
	switch (action) {
		case "zoom": {
			const zoom = ZOOMS.find(([each]) => each === value)?.[0];
			if (zoom) show({ zoom });
			return;
		}
		case "ask":
			if (isWish(value)) control({ asking: value });
			return;
		case "confirm":
			if (isWish(value)) void carryOut(value);
			return;
		case "cancel":
			control({ asking: null });
			return;
		case "use-token":
			useToken();
			return;
		case "forget-token":
			control({ token: null });
			return;
	}
}

function nearest(
	event: Event,
	selector: string,
): HTMLElement | SVGElement | null {
	const { target } = event;
	if (!(target instanceof Element)) return null;
	const found = target.closest(selector);
	return found instanceof HTMLElement || found instanceof SVGElement
		? found
		: null;
}

root.addEventListener("click", (event) => {
	const button = nearest(event, "button[data-action]");
	if (button) act(button.dataset);
});
root.addEventListener("keydown", (event) => {
	if (event.key === "Escape") tip.hide();
	const stop = nearest(event, "[data-stop]");
	if (stop && stepFrom(stop, event.key)) event.preventDefault();
	const isField = nearest(event, "#token") !== null;
	if (isField && event.key === "Enter") useToken();
});
root.addEventListener("focusin", (event) => {
	const stop = nearest(event, "[data-stop]");
	if (stop?.dataset.stop) show({ mark: stop.dataset.stop });
	tip.show(nearest(event, "[data-tip]"));
});
root.addEventListener("focusout", () => tip.hide());
root.addEventListener("pointerover", (event) =>
	tip.show(nearest(event, "[data-tip]")),
);
root.addEventListener("pointerleave", () => tip.hide());
new ResizeObserver(() => show({})).observe(root);
document.addEventListener("visibilitychange", () => {
	if (!document.hidden) void ask();
});
show({});
void ask();
