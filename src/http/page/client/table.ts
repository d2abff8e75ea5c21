import { type Child, h, type Tree } from "./tree.js";

export interface Column<Row> {
	readonly name: string;
	readonly cell: (row: Row) => Child | readonly Child[];
	/** `number`: right-aligned; `wide`: hidden if there is no room; `text`: takes the remaining room. */
	readonly kind?: string;
}

/** A table that scrolls within itself, with the keyboard as well. */
export function table<Row>(
	name: string,
	columns: readonly Column<Row>[],
	rows: readonly Row[],
	keyOf: (row: Row) => string,
): Tree {
	return h(
		"div",
		{ class: "scroll", tabindex: 0, role: "region", "aria-label": name },
		h(
			"table",
			{},
			h(
				"thead",
				{},
				h(
					"tr",
					{},
					columns.map((column) =>
						h("th", { scope: "col", class: column.kind }, column.name),
					),
				),
			),
			h(
				"tbody",
				{},
				rows.map((row) =>
					h(
						"tr",
						{ "data-key": keyOf(row) },
						columns.map(({ kind, cell }) =>
							h("td", { class: kind }, cell(row)),
						),
					),
				),
			),
		),
	);
}

/** A part of the page with its heading. */
export function section(
	name: string,
	title: string,
	note: Child,
	...content: readonly Child[]
): Tree {
	return h(
		"section",
		{ id: name, "aria-labelledby": `${name}-title`, "data-key": name },
		h(
			"div",
			{ class: "heading" },
			h("h2", { id: `${name}-title` }, title),
			note,
		),
		...content,
	);
}
