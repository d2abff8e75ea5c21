/** What a JSON document consists of, a line a member: its path and the types of its values, the same in each run. */
export function shapeOf(document: unknown): string {
	const types = new Map<string, Set<string>>();
	const add = (path: string, value: unknown): void => {
		if (Array.isArray(value)) {
			for (const each of value) add(`${path}[]`, each);
			if (value.length === 0) note(`${path}[]`, "none");
		} else if (typeof value === "object" && value !== null) {
			for (const [key, each] of Object.entries(value)) {
				add(`${path}.${key}`, each);
			}
		} else note(path, value === null ? "null" : typeof value);
	};
	const note = (path: string, type: string) => {
		types.set(path, (types.get(path) ?? new Set()).add(type));
	};
	add("", document);
	const lines = [...types].map(
		([path, all]) => `${path}: ${[...all].sort().join(" | ")}\n`,
	);
	return lines.sort().join("");
}
