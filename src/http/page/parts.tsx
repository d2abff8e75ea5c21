import type { ComponentChildren } from "preact";
import type { NodePhase } from "../../status/index.js";

export { render } from "preact";

export type Child = ComponentChildren;

/** A state in one word, which decides the colour of what says it. */
export type Standing = "good" | "busy" | "bad" | "over";

/** A part of the page with its heading, and a note beside that. */
export function Section(props: {
	readonly id: string;
	readonly title: string;
	readonly note: Child;
	readonly children: Child;
}) {
	const { id, title, note, children } = props;
	return (
		<section id={id} aria-labelledby={`${id}-title`}>
			<div class="heading">
				<h2 id={`${id}-title`}>{title}</h2>
				{typeof note === "string" ? <small>{note}</small> : note}
			</div>
			{children}
		</section>
	);
}

/** Kind `number`: right-aligned; `wide`: hidden if there is no room; `text`: takes the remaining room. */
export type Column<Row> = readonly [
	name: string,
	kind: string,
	cell: (row: Row) => Child,
];

/** A table that scrolls within itself; without rows it is a sentence. */
export function Table<Row>(props: {
	readonly columns: readonly Column<Row>[];
	readonly rows: readonly Row[];
	readonly keyOf: (row: Row) => string;
	readonly empty: string;
}) {
	const { columns, rows, keyOf, empty } = props;
	if (rows.length === 0) return <small>{empty}</small>;
	const heads = columns.map(([name, kind]) => (
		<th key={name} scope="col" class={kind}>
			{name}
		</th>
	));
	const cellsOf = (row: Row) =>
		columns.map(([name, kind, cell]) => (
			<td key={name} class={kind}>
				{cell(row)}
			</td>
		));
	return (
		<div class="scroll">
			<table>
				<thead>
					<tr>{heads}</tr>
				</thead>
				<tbody>
					{rows.map((row) => (
						<tr key={keyOf(row)}>{cellsOf(row)}</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}

/** A small picture beside a word that says the same. */
export function Sign({ children }: { readonly children: Child }) {
	return (
		<svg class="sign" viewBox="-11 -8 22 16" aria-hidden="true">
			{children}
		</svg>
	);
}

/** A phase has its pattern, by which it differs without colours and on paper, or else its colour. */
export function fillOf(phase: NodePhase): string {
	return `url(#fill-${phase}) var(--${phase})`;
}

/** The pattern of a phase, as in the time line. */
export function PhaseSign({ phase }: { readonly phase: NodePhase }) {
	return (
		<Sign>
			<rect
				class={`bar ${phase}`}
				fill={fillOf(phase)}
				x="-9"
				y="-5"
				width="18"
				height="10"
				rx="2"
			/>
		</Sign>
	);
}
