import ts from "typescript";
import { describe, expect, it } from "vitest";
import {
	type Import,
	importsOf,
	loadedWith,
	parse,
	sourceFiles,
} from "../helpers/import-graph.js";
import { measureHouse } from "../house/bounds.js";
import {
	FLOORS,
	FLOORS_INSIDE,
	isDoor,
	placeIn,
	placeOf,
	SHELF,
} from "../house/rooms.js";

const FILES = [...sourceFiles("src"), ...sourceFiles("bin")];
const IMPORTS = FILES.flatMap(importsOf);

/** Each package has one door, so that it can be replaced. */
const DOORS: Readonly<Record<string, string>> = {
	commander: "bin/command.ts",
	chokidar: "src/channel/reply-watch.ts",
	execa: "src/base/ask-program.ts",
	pino: "src/logs/create-logger.ts",
	yaml: "src/config/config-file.ts",
	etcd3: "src/store/etcd/etcd-client.ts",
	"@grpc/grpc-js": "src/store/etcd/etcd-client.ts",
	"prom-client": "src/http/metrics.ts",
	preact: "src/http/page/parts.tsx",
};

/** In a browser nothing of Node is there. */
const PAGE = "src/http/page/main.tsx";

/** The rim: who may ask for the time, for chance, and for the environment. */
const RIM: Readonly<Record<string, readonly string[]>> = {
	"Date.now": ["src/base/clock.ts", PAGE],
	"performance.now": ["src/base/clock.ts"],
	setTimeout: ["src/base/clock.ts", PAGE],
	setInterval: [],
	"Math.random": ["src/launch/node-launcher.ts"],
	"process.env": ["src/launch/launch.ts", "src/runtime/", "bin/"],
};

const show = ({ from, to }: Import) => `${from} → ${to}`;

describe("the house", () => {
	it("has every file on a floor", () => {
		expect(FILES.filter((file) => Number.isNaN(placeOf(file).floor))).toEqual(
			[],
		);
	});

	it.each<[string, typeof FLOORS]>([
		["the house", FLOORS],
		...FLOORS_INSIDE.map((floors): [string, typeof FLOORS] => [
			String(floors[0]),
			floors,
		]),
	])("has no arrow up or sideways: %s", (_, floors) => {
		const wrong = IMPORTS.filter(({ from, to, kind }) => {
			if (kind !== "file" || from.endsWith("/index.ts")) return false;
			const [source, destination] = [
				placeIn(floors, from),
				placeIn(floors, to),
			];
			return (
				source.room !== destination.room && destination.floor >= source.floor
			);
		});
		expect(wrong.map(show)).toEqual([]);
	});

	it("has no circle of files in src that import each other", () => {
		const below = new Map(
			FILES.map((file) => [file, new Set<string>()] as const),
		);
		for (const { from, to } of IMPORTS) below.get(from)?.add(to);
		// Files that import nothing go, then those that imported only these, and so on.
		const left = new Set(FILES.filter((file) => file.startsWith("src/")));
		const imports = (file: string) =>
			[...(below.get(file) ?? [])].some((to) => left.has(to));
		for (let before = -1; before !== left.size; ) {
			before = left.size;
			for (const file of left) if (!imports(file)) left.delete(file);
		}
		expect([...left]).toEqual([]);
	});

	it("lets policies see of rendezvous and channel only types", () => {
		const wrong = IMPORTS.filter(
			({ from, to, isTypeOnly }) =>
				from.startsWith("src/policies/") &&
				/^src\/(rendezvous|channel)\//.test(to) &&
				!isTypeOnly,
		);
		expect(wrong.map(show)).toEqual([]);
	});

	it("lets the runtime library reach the channel only", () => {
		const wrong = IMPORTS.filter(
			({ from, to, kind }) =>
				from.startsWith("src/runtime/") &&
				kind === "file" &&
				!/^src\/(runtime|channel)\/|^src\/base\/(clock|errors)\.ts$/.test(to),
		);
		expect(wrong.map(show)).toEqual([]);
	});

	it("enters a room by its door", () => {
		const wrong = IMPORTS.filter(
			({ from, to, kind, isDynamic }) =>
				kind === "file" &&
				!isDynamic &&
				!isDoor(to) &&
				!to.startsWith(SHELF) &&
				placeOf(from).room !== placeOf(to).room,
		);
		expect(wrong.map(show)).toEqual([]);
	});

	it("imports each package in one file", () => {
		const wrong = IMPORTS.filter(
			({ from, to, kind }) => kind === "package" && DOORS[to] !== from,
		);
		expect(wrong.map(show)).toEqual([]);
	});

	it.each([
		"runtime/runtime",
		"checkpoint/index",
		"runtime/register",
	])("loads no package with src/%s", (name) => {
		const packages = loadedWith(`src/${name}.ts`).filter(
			({ kind }) => kind === "package",
		);
		expect(packages.map(show)).toEqual([]);
	});

	it.each([
		["the command's start", "bin/elastic-run.ts"],
		["the public API", "src/index.ts"],
	])("keeps the slow packages off %s", (_, entry) => {
		const slow = loadedWith(entry).filter(({ to }) =>
			[
				"chokidar",
				"pino",
				"yaml",
				"etcd3",
				"@grpc/grpc-js",
				"prom-client",
			].includes(to),
		);
		expect(slow.map(show)).toEqual([]);
	});

	it("loads what tells of a node over HTTP only where that is wanted", () => {
		const early = loadedWith("src/launch/launch.ts").filter(
			({ to }) => to.startsWith("src/http/") || to === "prom-client",
		);
		expect(early.map(show)).toEqual([]);
	});

	it.each(
		Object.entries(RIM),
	)("asks for %s at the rim only", (name, allowed) => {
		const wrong = FILES.filter(
			(file) =>
				!allowed.some((place) => file.startsWith(place)) && uses(file, name),
		);
		expect(wrong).toEqual([]);
	});

	it("passes no bound of size: npm run house prints them all", () => {
		const passed = measureHouse().filter(({ now, bound }) => now > bound);
		expect(passed).toEqual([]);
	});
});

/** Whether a file's code, its comments apart, names a global or a member of one. */
function uses(file: string, name: string): boolean {
	const source = parse(file);
	if (!source.text.includes(name)) return false;
	let found = false;
	const visit = (node: ts.Node) => {
		const isMember =
			ts.isPropertyAccessExpression(node) && node.getText() === name;
		const isCall =
			ts.isCallExpression(node) && node.expression.getText() === name;
		if (isMember || isCall) found = true;
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found;
}
