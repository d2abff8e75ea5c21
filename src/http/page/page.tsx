import { Control } from "./control.js";
import { Failure } from "./failure.js";
import { Figures } from "./figures.js";
import { Header, Notices } from "./header.js";
import { Incidents } from "./incidents.js";
import { Ledger } from "./ledger.js";
import { type Actions, isOld, type Model } from "./model.js";
import { Nodes } from "./nodes.js";
import { Rounds } from "./rounds.js";
import { SeriesLine } from "./series.js";
import { TimeLine } from "./time-line.js";
import { Workers } from "./workers.js";

export function Page(props: {
	readonly model: Model;
	readonly actions: Actions;
}) {
	const { model, actions } = props;
	const { document } = model;
	const parts = document && { document, model, actions };
	return (
		<>
			<Header model={model} />
			<Notices model={model} />
			{parts && (
				<div class={isOld(model) ? "stale" : ""}>
					<Figures {...parts} />
					<SeriesLine {...parts} />
					<Ledger {...parts} />
					<TimeLine {...parts} />
					<Failure {...parts} />
					<Nodes {...parts} />
					<Workers {...parts} />
					<Incidents {...parts} />
					<Rounds {...parts} />
					<Control {...parts} />
				</div>
			)}
		</>
	);
}
