/**
 * Elements as data: renderers stay pure, and text from a worker or a peer can only become text. Only patch.ts makes real
 * elements.
 */
export interface Tree {
	readonly tag: string;
	readonly attributes: Readonly<Record<string, string>>;
	readonly children: readonly (Tree | string)[];
}

type Attribute = string | number | boolean | null | undefined;
export type Child = Tree | string | null;

/** An element. An attribute that is null, undefined or false is omitted; true has no value. */
export function h(
	tag: string,
	attributes: Readonly<Record<string, Attribute>> = {},
	...children: readonly (Child | readonly Child[])[]
): Tree {
	const given = Object.entries(attributes).flatMap(
		([name, value]): [string, string][] =>
			value === null || value === undefined || value === false
				? []
				: [[name, value === true ? "" : String(value)]],
	);
	return {
		tag,
		attributes: Object.fromEntries(given),
		children: children.flat().filter((child) => child !== null),
	};
}

/** Its text, as read without seeing where elements begin. */
export function textOf(tree: Child): string {
	if (tree === null) return "";
	if (typeof tree === "string") return tree;
	return tree.children.map(textOf).join("");
}

/** All matching elements in it, itself included, in order. */
export function findAll(
	tree: Tree,
	holds: (tree: Tree) => boolean,
): readonly Tree[] {
	const below = tree.children.flatMap((child) =>
		typeof child === "string" ? [] : findAll(child, holds),
	);
	return holds(tree) ? [tree, ...below] : below;
}
