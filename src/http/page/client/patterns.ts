import { h, type Tree } from "./tree.js";

/** Distinguish phases without colours and on paper: each has its pattern. style.css names them. */
export const PATTERNS: Tree = h(
	"defs",
	{},
	pattern("joining", 6, h("circle", { cx: 3, cy: 3, r: 1.2 })),
	pattern("paused", 6, h("rect", { x: 0, y: 0, width: 2.4, height: 6 })),
	pattern("stopping", 5, h("path", { d: "M-1 1 L1 -1 M0 5 L5 0 M4 6 L6 4" })),
	pattern("leaving", 5, h("path", { d: "M0 0 L5 5 M5 0 L0 5" })),
);

/** A background with a figure that repeats every `size` pixels. */
function pattern(name: string, size: number, figure: Tree): Tree {
	return h(
		"pattern",
		{
			...{ id: `fill-${name}`, class: `pattern ${name}` },
			...{ width: size, height: size, patternUnits: "userSpaceOnUse" },
		},
		h("rect", { class: "ground", width: size, height: size }),
		h("g", { class: "figure" }, figure),
	);
}
