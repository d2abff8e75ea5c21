import ts from "typescript";
import { describe, expect, it } from "vitest";
import {
	type Import,
	importsOf,
	loadedWith,
	parse,
	sourceFiles,
} from "../helpers/import-graph.js";

const FILES = [...sourceFiles("src"), ...sourceFiles("bin")];
const IMPORTS = FILES.flatMap(importsOf);

/** An arrow down is allowed, up or sideways is not. */
const FLOORS: readonly (readonly [folder: string, floor: number])[] = [
	["src/clock.ts", 0],
	["src/errors.ts", 0],
	["src/package-files.ts", 0],
	["src/process-stat.ts", 0],
	["src/rendezvous/", 1],
	["src/channel/", 1],
	["src/policies/", 2],
	["src/agent/launch.ts", 4],
	["src/agent/", 3],
	["src/runtime/", 3],
	["src/index.ts", 5],
	["bin/", 6],
];

/** Each package has one door, so that it can be replaced. */
const DOORS: Readonly<Record<string, string>> = {
	commander: "bin/command-line.ts",
	execa: "src/agent/supervision/process-spawner.ts",
	chokidar: "src/channel/reply-watcher.ts",
	pino: "src/agent/logs/create-logger.ts",
	"pino-pretty": "src/agent/logs/create-logger.ts",
	yaml: "src/agent/configuration/config-file.ts",
	etcd3: "src/rendezvous/etcd/etcd-client.ts",
	"@grpc/grpc-js": "src/rendezvous/etcd/call-options.ts",
	"prom-client": "src/agent/http/metrics.ts",
};

/** In a browser nothing of Node is there. */
const PAGE = "src/agent/http/page/client/main.ts";

/** The rim: who may ask for the time, for chance, and for the environment. */
const RIM: Readonly<Record<string, readonly string[]>> = {
	"Date.now": ["src/clock.ts", PAGE],
	"performance.now": ["src/clock.ts"],
	setTimeout: ["src/clock.ts", PAGE],
	setInterval: [],
	"Math.random": ["src/agent/node-run.ts"],
	"process.env": ["src/agent/launch.ts", "src/runtime/", "bin/"],
};

function floorOf(file: string): { folder: string; floor: number } {
	const [folder, floor] = FLOORS.find(([name]) => file.startsWith(name)) ?? [
		file,
		Number.NaN,
	];
	return { folder, floor };
}

const show = ({ from, to }: Import) => `${from} → ${to}`;

describe("the house", () => {
	it("has every file on a floor", () => {
		expect(FILES.filter((file) => Number.isNaN(floorOf(file).floor))).toEqual(
			[],
		);
	});

	it("has no arrow up or sideways", () => {
		const wrong = IMPORTS.filter(({ from, to, kind }) => {
			if (kind !== "file") return false;
			const [source, destination] = [floorOf(from), floorOf(to)];
			return (
				source.folder !== destination.folder &&
				!(destination.floor < source.floor)
			);
		});
		expect(wrong.map(show)).toEqual([]);
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
				!/^src\/(runtime|channel)\/|^src\/(clock|errors)\.ts$/.test(to),
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
		"runtime",
		"checkpoint",
		"register",
	])("loads no package with elastic-run/%s", (name) => {
		const packages = loadedWith(`src/runtime/${name}.ts`).filter(
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
				"execa",
				"chokidar",
				"pino",
				"pino-pretty",
				"yaml",
				"etcd3",
				"@grpc/grpc-js",
				"prom-client",
			].includes(to),
		);
		expect(slow.map(show)).toEqual([]);
	});

	it("loads what tells of a node over HTTP only where that is wanted", () => {
		const early = loadedWith("src/agent/launch.ts").filter(
			({ to }) => to.startsWith("src/agent/http/") || to === "prom-client",
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

	it("has no file of more than 220 lines and no function of more than 60", () => {
		const long = FILES.flatMap((file) => {
			const source = parse(file);
			const lines = lineOf(source, source.end);
			const functions = longFunctions(source).map((name) => `${file}: ${name}`);
			return lines > 220
				? [`${file}: ${lines} lines`, ...functions]
				: functions;
		});
		expect(long).toEqual([]);
	});
});

/** Whether a file's code, its comments apart, names a global or a member of one. */
function uses(file: string, name: string): boolean {
	let found = false;
	const visit = (node: ts.Node) => {
		const isMember =
			ts.isPropertyAccessExpression(node) && node.getText() === name;
		const isCall =
			ts.isCallExpression(node) && node.expression.getText() === name;
		if (isMember || isCall) found = true;
		ts.forEachChild(node, visit);
	};
	visit(parse(file));
	return found;
}

function longFunctions(source: ts.SourceFile): readonly string[] {
	const long: string[] = [];
	const visit = (node: ts.Node) => {
		if (ts.isFunctionLike(node)) {
			const lines =
				lineOf(source, node.end) - lineOf(source, node.getStart(source)) + 1;
			if (lines > 60)
				long.push(`${node.name?.getText() ?? "?"}, ${lines} lines`);
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	return long;
}

function lineOf(source: ts.SourceFile, position: number): number {
	return source.getLineAndCharacterOfPosition(position).line + 1;
}
