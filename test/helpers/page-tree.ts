import { isValidElement } from "preact";
import { vi } from "vitest";
import type { Actions, Model } from "../../src/http/page/model.js";
import { Page } from "../../src/http/page/page.js";

/** An element of the page, as its components make it. */
export interface Tree {
	readonly tag: string;
	readonly attributes: Readonly<Record<string, unknown>>;
	readonly children: readonly (Tree | string)[];
}

/** What the page shows of a model. */
export function shownPage(model: Model): Tree {
	const actions: Actions = {
		zoom: vi.fn(),
		control: vi.fn(),
		request: vi.fn(),
	};
	const children = rendered(Page({ model, actions }));
	return { tag: "main", attributes: {}, children };
}

/** Components of the page have no state, so each is the function that it seems to be. */
function rendered(child: unknown): readonly (Tree | string)[] {
	if (Array.isArray(child)) return child.flatMap(rendered);
	if (typeof child === "string") return [child];
	if (typeof child === "number") return [String(child)];
	if (!isValidElement(child)) return [];
	const { type, props } = child;
	if (typeof type === "function") {
		return rendered(Reflect.apply(type, undefined, [props]));
	}
	const { children, ...attributes } = props;
	return [{ tag: type, attributes, children: rendered(children) }];
}

/** Its text, as read without seeing where elements begin. */
export function textOf(tree: Tree | string): string {
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

/** The element with an id; an empty one if there is none. */
export function part(tree: Tree, id: string): Tree {
	const [found] = findAll(tree, ({ attributes }) => attributes.id === id);
	return found ?? { tag: "nothing", attributes: {}, children: [] };
}

export function hasClass(name: string) {
	return ({ attributes }: Tree) =>
		String(attributes.class ?? "")
			.split(" ")
			.includes(name);
}
