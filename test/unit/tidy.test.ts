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

/** The rooms, by floor: an arrow down is allowed, up or sideways is not. */
const FLOORS: readonly (readonly string[])[] = [
	["src/base/", "src/notices/notice.ts"],
	["src/channel/", "src/rendezvous/store/"],
	["src/rendezvous/records/"],
	["src/rendezvous/planner/"],
	["src/rendezvous/describe/", "src/rendezvous/member/"],
	["src/policies/", "src/supervision/", "src/runtime/"],
	["src/config/"],
	["src/logs/"],
	["src/report/", "src/progress/", "src/goodput/"],
	["src/notices/", "src/preflight/"],
	["src/evidence/"],
	["src/agent/machine/"],
	["src/agent/workers/"],
	["src/agent/joining/", "src/agent/presence/", "src/agent/steps/"],
	["src/agent/"],
	["src/operate/", "src/http/", "src/hosting/", "src/notices/"],
	["src/launch/"],
	["src/index.ts"],
	["bin/"],
];

/** Each package has one door, so that it can be replaced. */
const DOORS: Readonly<Record<string, string>> = {
	commander: "bin/argument-parser.ts",
	execa: "src/supervision/process-spawner.ts",
	chokidar: "src/channel/reply-watcher.ts",
	pino: "src/logs/create-logger.ts",
	yaml: "src/config/config-file.ts",
	etcd3: "src/rendezvous/store/etcd/etcd-client.ts",
	"@grpc/grpc-js": "src/rendezvous/store/etcd/call-options.ts",
	"prom-client": "src/http/metrics.ts",
};

/** In a browser nothing of Node is there. */
const PAGE = "src/http/page/client/main.ts";

/** The rim: who may ask for the time, for chance, and for the environment. */
const RIM: Readonly<Record<string, readonly string[]>> = {
	"Date.now": ["src/base/clock.ts", PAGE],
	"performance.now": ["src/base/clock.ts"],
	setTimeout: ["src/base/clock.ts", PAGE],
	setInterval: [],
	"Math.random": ["src/launch/node-launcher.ts"],
	"process.env": ["src/launch/launch.ts", "src/runtime/", "bin/"],
};

function floorOf(file: string): { room: string; floor: number } {
	for (const [floor, rooms] of FLOORS.entries()) {
		const room = rooms.find((name) => file.startsWith(name));
		if (room !== undefined) return { room, floor };
	}
	return { room: file, floor: Number.NaN };
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
				source.room !== destination.room && !(destination.floor < source.floor)
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
