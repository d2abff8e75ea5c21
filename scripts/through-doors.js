import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const FROM = /^(import|export) (type )?\{([^}]*)\} from "(\.[^"]+)";/gm;
const DOOR = "/index.ts";

/**
 * A room's door, its `index.ts`, re-exports what others may use of it. A bundle takes each name from the file behind the
 * door: by the door it would load the whole room, with its packages, for one name.
 *
 * @type {import("esbuild").Plugin}
 */
export const throughDoors = {
	name: "through doors",
	setup({ onLoad }) {
		onLoad({ filter: /\/(src|bin)\/.*\.tsx?$/ }, ({ path }) => ({
			contents: rewrite(path, readFileSync(path, "utf8")),
			loader: path.endsWith("x") ? "tsx" : "ts",
		}));
	},
};

function rewrite(from, text) {
	return text.replace(FROM, (whole, word, isType, list, path) => {
		const door = join(dirname(from), path).replace(/\.js$/, ".ts");
		const isDoor = door.endsWith(DOOR) && existsSync(door);
		if (!isDoor || isType !== undefined) return whole;
		const behind = namesBehind(door);
		return values(list)
			.map(([name, words]) => {
				const file = behind.get(name) ?? door;
				const to = relative(dirname(from), file).replace(/\.ts$/, ".js");
				return `${word} { ${words} } from "./${to}";`;
			})
			.join(" ");
	});
}

/** The file behind a door for each name that it re-exports. */
function namesBehind(door) {
	const found = new Map();
	const text = readFileSync(door, "utf8");
	for (const [, word, isType, list, path] of text.matchAll(FROM)) {
		if (word !== "export" || isType !== undefined) continue;
		const file = join(dirname(door), path).replace(/\.js$/, ".ts");
		for (const [name] of values(list)) found.set(name, file);
	}
	return found;
}

/** What a list between braces names, types apart: the name, and how it is written (`a as b`). */
function values(list) {
	return list
		.split(",")
		.map((words) => words.trim())
		.filter((words) => words !== "" && !words.startsWith("type "))
		.map((words) => [words.split(" ")[0], words]);
}
