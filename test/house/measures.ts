import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import {
	allFiles,
	type Import,
	importsOf,
	parse,
	ROOT,
	sourceFiles,
} from "../helpers/import-graph.js";
import { FLOORS, isDoor, placeOf, SHELF, WALLS } from "./rooms.js";

const SOURCES = [...sourceFiles("src"), ...sourceFiles("bin")];
const IMPORTS = SOURCES.flatMap(importsOf).filter(
	({ kind }) => kind === "file",
);
const MACHINE = "src/agent/machine/";

export interface Longest {
	readonly lines: number;
	readonly where: string;
}

export function linesOf(...folders: readonly string[]): number {
	return sum(folders.flatMap(allFiles).map(lines));
}

/** The notes on decisions apart. */
export function wordsOfDocs(): number {
	const pages = allFiles("docs").filter(
		(file) => file.endsWith(".md") && !file.startsWith("docs/decisions/"),
	);
	return sum(["README.md", ...pages].map((page) => words(page)));
}

export function decisionNotes(): number {
	return allFiles("docs/decisions").length;
}

/** The walls through which something is imported, each with its first import. */
export function brokenWalls(): readonly string[] {
	const behindDoors = IMPORTS.flatMap(throughDoor);
	return WALLS.flatMap(([from, ...to]) => {
		const through = behindDoors.filter(
			(each) =>
				each.from.startsWith(from) &&
				to.some((room) => each.to.startsWith(room)),
		);
		const [first] = through;
		if (first === undefined) return [];
		return [`${from} (${through.length} imports, as ${show(first)})`];
	});
}

/** An import by a door as the imports of what stands behind it. */
function throughDoor(each: Import): readonly Import[] {
	if (!each.to.endsWith("/index.ts")) return [each];
	return importsOf(each.to)
		.filter(({ names }) => names.some((name) => each.names.includes(name)))
		.map(({ to }) => ({ ...each, to }));
}

export const floors = FLOORS.length;

/** The names that other rooms import of a room, and how many of them not from its door. What is loaded late is loaded by file. */
export function crossingNames(): { all: number; besideDoors: number } {
	const crossing = new Set<string>();
	const besideDoors = new Set<string>();
	for (const { from, to, names, isDynamic } of IMPORTS) {
		const { room } = placeOf(to);
		if (placeOf(from).room === room) continue;
		for (const name of names) {
			crossing.add(`${isDynamic ? to : room} ${name}`);
			if (!isDoor(to) && !isDynamic && room !== SHELF) {
				besideDoors.add(`${to} ${name}`);
			}
		}
	}
	return { all: crossing.size, besideDoors: besideDoors.size };
}

/** The rooms with a word in their code, comments apart. */
export function roomsWith(word: RegExp): readonly string[] {
	const rooms = SOURCES.filter((file) => uses(file, word)).map(
		(file) => placeOf(file).room,
	);
	return [...new Set(rooms)].sort();
}

/** How many of the machine's files stand on top of one another, by their imports. */
export function machineFloors(): number {
	const inside = IMPORTS.filter(
		({ from, to }) => from.startsWith(MACHINE) && to.startsWith(MACHINE),
	);
	const depths = new Map<string, number>();
	const depth = (file: string): number => {
		const known = depths.get(file);
		if (known !== undefined) return known;
		depths.set(file, 1);
		const below = inside.filter(({ from }) => from === file);
		const found = 1 + Math.max(0, ...below.map(({ to }) => depth(to)));
		depths.set(file, found);
		return found;
	};
	return Math.max(
		...SOURCES.filter((file) => file.startsWith(MACHINE)).map(depth),
	);
}

export const machineLines = () => linesOf(MACHINE);

/** The share of all lines, in percent, of the room that has most. */
export function biggestRoom(): { percent: number; where: string } {
	const byRoom = new Map<string, number>();
	for (const file of [...allFiles("src"), ...allFiles("bin")]) {
		const room = file.split("/").slice(0, -1).slice(0, 2).join("/");
		byRoom.set(room, (byRoom.get(room) ?? 0) + lines(file));
	}
	const [where, most] = [...byRoom].sort(([, a], [, b]) => b - a)[0] ?? ["", 0];
	return { percent: (100 * most) / sum([...byRoom.values()]), where };
}

export function longestFile(): Longest {
	const files = [...allFiles("src"), ...allFiles("bin")];
	return longest(files.map((where) => ({ where, lines: lines(where) })));
}

export function longestFunction(): Longest {
	return longest(SOURCES.flatMap(functionsOf));
}

function functionsOf(file: string): readonly Longest[] {
	const source = parse(file);
	const found: Longest[] = [];
	const lineAt = (position: number) =>
		source.getLineAndCharacterOfPosition(position).line;
	const visit = (node: ts.Node) => {
		if (ts.isFunctionLike(node)) {
			found.push({
				lines: lineAt(node.end) - lineAt(node.getStart(source)) + 1,
				where: `${file}: ${node.name?.getText() ?? "a function"}`,
			});
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found;
}

/** Whether a word stands in a file's names and strings. */
function uses(file: string, word: RegExp): boolean {
	const source = parse(file);
	if (!word.test(source.text)) return false;
	const visit = (node: ts.Node): boolean => {
		let isLeaf = true;
		const isBelow = ts.forEachChild(node, (child) => {
			isLeaf = false;
			return visit(child);
		});
		return isBelow || (isLeaf && word.test(node.getText()));
	};
	return visit(source);
}

function longest(all: readonly Longest[]): Longest {
	return all.reduce((most, each) => (each.lines > most.lines ? each : most));
}

function lines(file: string): number {
	return readFileSync(join(ROOT, file), "utf8").split("\n").length - 1;
}

function words(file: string): number {
	return readFileSync(join(ROOT, file), "utf8").trim().split(/\s+/).length;
}

function sum(numbers: readonly number[]): number {
	return numbers.reduce((total, each) => total + each, 0);
}

function show({ from, to }: Import): string {
	return `${from} → ${to}`;
}
