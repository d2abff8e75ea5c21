import type { ControlRequest, Model } from "./model.js";
import { section } from "./table.js";
import { type Child, h, type Tree } from "./tree.js";

/** The controls: none, unless the launcher has a token and the reader knows it. */
export function controlSection(model: Model): Child {
	const { document, control } = model;
	if (document === null || !document.control) return null;
	return section(
		"control",
		"Control",
		control.said === null
			? null
			: h("span", { class: "note", role: "status" }, control.said),
		control.token === null ? tokenField() : buttons(model),
	);
}

function tokenField(): Tree {
	return h(
		"p",
		{ class: "control" },
		h("label", { for: "token" }, "Token"),
		h("input", {
			...{ id: "token", type: "password", autocomplete: "off" },
			"data-action": "token",
		}),
		button("use-token", null, "Use"),
		h(
			"span",
			{ class: "note" },
			"It stays in this page until it is closed or loaded again.",
		),
	);
}

function buttons({ document, control, connection }: Model): Tree {
	const isLive = connection.state === "live";
	const nodeId = document?.node.nodeId ?? "";
	const runId = document?.run?.runId ?? "";
	const questions: Readonly<Record<ControlRequest, string>> = {
		leave: `Shall ${nodeId} leave the run? Its workers end; the run continues elsewhere if enough nodes are left.`,
		stop: `Shall run ${runId} be stopped on all of its nodes? It does not restart by itself.`,
	};
	const { asking } = control;
	if (asking !== null) {
		return h(
			"p",
			{ class: "control", role: "alertdialog", "aria-label": "Confirm" },
			h("strong", {}, questions[asking]),
			button(
				"confirm",
				asking,
				asking === "stop" ? "Stop the run" : "Leave",
				"danger",
				isLive,
			),
			button("cancel", null, "Cancel"),
		);
	}
	return h(
		"p",
		{ class: "control" },
		button("ask", "leave", `Make ${nodeId} leave …`, undefined, isLive),
		button("ask", "stop", "Stop the run …", "danger", isLive),
		button("forget-token", null, "Forget the token"),
	);
}

function button(
	action: string,
	value: string | null,
	words: string,
	kind?: string,
	isEnabled = true,
): Tree {
	return h(
		"button",
		{
			...{ type: "button", class: kind, disabled: !isEnabled },
			...{ "data-action": action, "data-value": value },
			"data-key": [action, value].join(" "),
		},
		words,
	);
}

/** The result of a request, in words. */
export function saidOf(
	request: ControlRequest,
	isHeard: boolean,
	answer: string,
): string {
	if (!isHeard) return answer.trim();
	return request === "stop"
		? "The run is being stopped on all of its nodes."
		: "The node leaves the run.";
}
