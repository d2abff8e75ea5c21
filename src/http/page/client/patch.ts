import type { Tree } from "./tree.js";

const SVG = "http://www.w3.org/2000/svg";
/** Names an element among its siblings, so that it stays the same one while others come and go. */
const KEY = "data-key";
/** An attribute that the user changes. */
const KEPT = "open";

/** Gives an element these children and changes only what differs, so that focus, selection, scrolling and unfolded parts stay. */
export function patch(parent: Element, children: Tree["children"]): void {
	const keyed = new Map(
		[...parent.children].flatMap((child): [string, Element][] => {
			const key = child.getAttribute(KEY);
			return key === null ? [] : [[key, child]];
		}),
	);
	const wanted = new Set(
		children.map((child) =>
			typeof child === "string" ? undefined : child.attributes[KEY],
		),
	);
	// Removes first: otherwise later elements would have to be moved, and lose the focus.
	for (const [key, element] of keyed) {
		if (!wanted.has(key)) element.remove();
	}
	let at: ChildNode | null = parent.firstChild;
	for (const child of children) {
		const found = match(at, child, keyed);
		if (found === undefined) {
			parent.insertBefore(make(child, parent), at);
			continue;
		}
		if (found === at) at = at.nextSibling;
		else parent.insertBefore(found, at);
		update(found, child);
	}
	while (at !== null) {
		const next: ChildNode | null = at.nextSibling;
		at.remove();
		at = next;
	}
}

/** The existing node that can become this one. */
function match(
	at: ChildNode | null,
	child: Tree | string,
	keyed: ReadonlyMap<string, Element>,
): ChildNode | undefined {
	if (typeof child === "string") {
		return at instanceof Text ? at : undefined;
	}
	const key = child.attributes[KEY];
	const found = key === undefined ? at : (keyed.get(key) ?? null);
	const isSame =
		found instanceof Element &&
		found.localName === child.tag &&
		found.getAttribute(KEY) === (key ?? null);
	return isSame ? found : undefined;
}

function update(node: ChildNode, child: Tree | string): void {
	if (typeof child === "string") {
		if (node.textContent !== child) node.textContent = child;
		return;
	}
	if (!(node instanceof Element)) return;
	for (const name of node.getAttributeNames()) {
		if (!(name in child.attributes) && name !== KEPT)
			node.removeAttribute(name);
	}
	for (const [name, value] of Object.entries(child.attributes)) {
		if (node.getAttribute(name) !== value) node.setAttribute(name, value);
	}
	patch(node, child.children);
}

function make(child: Tree | string, parent: Element): Node {
	if (typeof child === "string") return document.createTextNode(child);
	const namespace = child.tag === "svg" ? SVG : parent.namespaceURI;
	const element = document.createElementNS(namespace, child.tag);
	for (const [name, value] of Object.entries(child.attributes)) {
		element.setAttribute(name, value);
	}
	patch(element, child.children);
	return element;
}
