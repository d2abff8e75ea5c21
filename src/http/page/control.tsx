import type { SectionProps } from "./model.js";
import { Section } from "./parts.js";

/** The controls: none, unless the launcher has a token and the reader knows it. */
export function Control(props: SectionProps) {
	if (!props.document.control) return null;
	const { token, asking, said } = props.model.control;
	const Step =
		token === null ? TokenForm : asking === null ? Requests : Confirmation;
	return (
		<Section
			id="control"
			title="Control"
			note={said !== null && <small role="status">{said}</small>}
		>
			<Step {...props} />
		</Section>
	);
}

function TokenForm({ actions }: SectionProps) {
	const use = (event: SubmitEvent) => {
		event.preventDefault();
		const field = document.getElementById("token");
		const token = field instanceof HTMLInputElement ? field.value.trim() : "";
		if (token !== "") actions.control({ token });
	};
	return (
		<form class="control" onSubmit={use}>
			<label for="token">Token</label>
			<input id="token" type="password" autocomplete="off" />
			<button type="submit">Use</button>
			<small>It stays in this page until it is closed or loaded again.</small>
		</form>
	);
}

function Requests({ document, model, actions }: SectionProps) {
	const isLost = model.connection.state !== "live";
	const leave = () => actions.control({ asking: "leave" });
	const stop = () => actions.control({ asking: "stop" });
	const forget = () => actions.control({ token: null });
	return (
		<p class="control">
			<button type="button" disabled={isLost} onClick={leave}>
				{`Make ${document.node.nodeId} leave …`}
			</button>
			<button type="button" class="danger" disabled={isLost} onClick={stop}>
				Stop the run …
			</button>
			<button type="button" onClick={forget}>
				Forget the token
			</button>
		</p>
	);
}

function Confirmation({ document, model, actions }: SectionProps) {
	const isLost = model.connection.state !== "live";
	const isStop = model.control.asking === "stop";
	const confirm = () => actions.request(isStop ? "stop" : "leave");
	const cancel = () => actions.control({ asking: null });
	const question = isStop
		? `Shall run ${document.run?.runId ?? ""} be stopped on all of its nodes? It does not restart by itself.`
		: `Shall ${document.node.nodeId} leave the run? Its workers end; the run continues elsewhere if enough nodes are left.`;
	return (
		<p class="control" role="alertdialog" aria-label="Confirm">
			<strong>{question}</strong>
			<button type="button" class="danger" disabled={isLost} onClick={confirm}>
				{isStop ? "Stop the run" : "Leave"}
			</button>
			<button type="button" onClick={cancel}>
				Cancel
			</button>
		</p>
	);
}
