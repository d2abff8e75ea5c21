import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { CliCommand } from "../../bin/command.js";
import { COMMANDS, isCommandWord, loadCommand } from "../../bin/commands.js";
import { EXIT_CODES } from "../../src/base/errors.js";
import { FOREIGN_FLAGS } from "../../src/config/environment.js";
import { ALL_OPTIONS } from "../../src/config/options.js";

const PAGES = [
	"README.md",
	"CHANGELOG.md",
	"examples/README.md",
	"bench/README.md",
	...markdownIn("docs"),
	...markdownIn("docs/decisions"),
].filter((path) => existsSync(path));

/** Flags that the pages name and that are not the launcher's. */
const FOREIGN = [
	...["--import", "--require", "--inspect", "--cpu-prof"],
	...["--lr", "--its-own-flag", "--nproc"],
	// Of the bench and of the simulator.
	...["--count", "--quick", "--smoke", "--trace", "--write"],
	...["--seeds", "--from", "--seed", "--checker", "--situations"],
	// Of etcd, etcdctl and srun.
	...["--listen-client-urls", "--advertise-client-urls"],
	...["--interactive", "--prefix"],
	...["--no-kill", "--kill-on-bad-exit", "--signal", "--requeue", "--nodes"],
	...["--open-mode", "--ntasks", "--ip-address"],
	// Of the examples.
	...["--steps", "--batch", "--checkpoint-dir", "--checkpoint-every"],
	...["--attempts", "--checkpoint", "--digits"],
];

const COMMANDS_FLAGS = (
	await Promise.all(
		Object.keys(COMMANDS).filter(isCommandWord).map(loadCommand),
	)
).flatMap((command) =>
	command instanceof CliCommand
		? command.options.map((option) => option.name())
		: ["explain"],
);

function markdownIn(folder: string): string[] {
	return readdirSync(folder)
		.filter((name) => name.endsWith(".md"))
		.map((name) => `${folder}/${name}`);
}

const read = (path: string) => readFileSync(path, "utf8");

function found(text: string, pattern: RegExp): string[] {
	return [
		...new Set([...text.matchAll(pattern)].map(([, first]) => first ?? "")),
	];
}

/** The anchors that a page's headings get. */
function anchorsOf(path: string): string[] {
	return found(read(path), /^#+ (.+)$/gm).map((heading) =>
		heading
			.toLowerCase()
			.replaceAll(/[^\p{L}\p{N} _-]/gu, "")
			.replaceAll(" ", "-"),
	);
}

function isThere(page: string, link: string): boolean {
	const [file = "", anchor] = link.split("#");
	const path = file === "" ? page : join(dirname(page), file);
	if (!existsSync(path)) return false;
	return anchor === undefined || anchorsOf(path).includes(anchor);
}

describe.each(PAGES)("%s", (page) => {
	const text = read(page);

	it("links to what is there", () => {
		const links = found(text, /\]\(([^)\s]+)\)/g).filter(
			(link) => !/^https?:/.test(link),
		);
		expect(links.filter((link) => !isThere(page, link))).toEqual([]);
	});

	it("names scripts that package.json has", () => {
		const manifest: unknown = JSON.parse(read("package.json"));
		const names = found(text, /\bnpm (?:run )?((?<=run )[\w:]+|test)\b/g);
		for (const name of names) {
			expect(manifest).toHaveProperty(["scripts", name]);
		}
	});

	it("names flags that are known", () => {
		const known = [
			...ALL_OPTIONS.flatMap(({ name, aliases }) => [name, ...aliases]),
			...FOREIGN_FLAGS.map(({ name }) => name),
			...COMMANDS_FLAGS,
			...["help", "version"],
		].map((name) => `--${name}`);
		const named = found(text, /(?<![\w-])(--[a-z][a-z0-9-]*)/g);
		expect(
			named.filter((flag) => ![...known, ...FOREIGN].includes(flag)),
		).toEqual([]);
	});

	it("names files of the project that are there", () => {
		const named = found(
			text,
			/`((?:src|bin|test|docs|scripts|examples)\/[\w./-]+)`/g,
		);
		expect(named.filter((path) => !existsSync(path))).toEqual([]);
	});
});

describe("every page is short and can be found", () => {
	const pages = markdownIn("docs");

	it.each(pages)("README.md links to %s", (page) => {
		expect(read("README.md")).toContain(`](${page})`);
	});
});

it("sources, tests and scripts name pages that are there", () => {
	const files = ["src", "bin", "test", "scripts", "examples", "bench"].flatMap(
		(folder) =>
			readdirSync(folder, { recursive: true, encoding: "utf8" }).map(
				(name) => `${folder}/${name}`,
			),
	);
	const texts = files.filter((path) =>
		/\.(?:ts|js|py|sh|yaml|html)$/.test(path),
	);
	const missing = texts.flatMap((path) =>
		found(read(path), /\b(docs\/[\w./-]+\.(?:md|svg|png))/g)
			.filter((page) => !existsSync(page))
			.map((page) => `${path}: ${page}`),
	);
	expect(texts.length).toBeGreaterThan(100);
	expect(missing).toEqual([]);
});

describe("docs/command-line.md", () => {
	const rows = read("docs/command-line.md")
		.split("\n")
		.filter((line) => line.startsWith("|"));
	const camelCase = (name: string) =>
		name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

	it.each(
		ALL_OPTIONS.map((option) => [option.name, option] as const),
	)("has a row for --%s with its default", (_, option) => {
		const { name, aliases, argument } = option;
		const row = rows.find((line) =>
			new RegExp(`^[^|]*--${name}(?![\\w-])`).test(line.slice(1)),
		);
		const hasDefault = "defaultText" in option && argument !== undefined;
		const expected = [
			...aliases.map((alias) => `--${alias}`),
			...(hasDefault ? [`| \`${option.defaultText}\` |`] : []),
		];
		expect(expected.filter((part) => !row?.includes(part))).toEqual([]);
		expect(row).toBeDefined();
	});

	it.each(
		ALL_OPTIONS.map((option) => [option.name, option] as const),
	)("says by its rule the variable and the key of --%s", (name, option) => {
		const { variables, key } = option;
		const upper = name.replaceAll("-", "_").toUpperCase();
		expect(variables[0]).toBe(`ELASTIC_RUN_${upper}`);
		expect(key).toBe(camelCase(name));
	});

	it.each(Object.keys(COMMANDS))("names the command %s", (command) => {
		const named = rows.some((row) => new RegExp(`\`${command}[\` ]`).test(row));
		expect(named || command === "run").toBe(true);
	});
});

it("docs/exit-codes.md has a row for each code of the launcher", () => {
	const page = read("docs/exit-codes.md");
	for (const code of new Set(Object.values(EXIT_CODES))) {
		expect(page).toMatch(new RegExp(`^\\| (?:\\d+, )?${code}[ ,]`, "m"));
	}
});

it.each([
	["status-json", ["status", "store-keys"]],
	["history-json", ["status", "store-keys"]],
	["report-json", ["status"]],
	["hang-json", ["steps", "status"]],
])("the pages name each member of %s", (golden, pages) => {
	const text = pages.map((page) => read(`docs/${page}.md`)).join("\n");
	const members = read(`test/slow/golden/${golden}.txt`)
		.split("\n")
		.flatMap((line) => found(line.split(":")[0] ?? "", /([a-z]\w*)/gi));
	expect(members.length).toBeGreaterThan(5);
	const missing = members.filter(
		(name) => !new RegExp(`\\b${name}\\b`).test(text),
	);
	expect([...new Set(missing)]).toEqual([]);
});

it("docs/architecture.md has each room of src", () => {
	const page = read("docs/architecture.md");
	const [, table = ""] = /^## Rooms\n(.*?)^## /ms.exec(page) ?? [];
	const cells = found(table, /^\| ([a-z, -]+) \|/gm).filter(
		(cell) => cell !== "room",
	);
	const rooms = readdirSync("src", { withFileTypes: true })
		.filter((entry) => entry.isDirectory())
		.map(({ name }) => name);
	expect(cells.flatMap((cell) => cell.split(", ")).sort()).toEqual(
		rooms.sort(),
	);
});

/** The test that shows what each row says of this launcher. */
const BEHAVIOUR: Readonly<
	Record<string, readonly [file: string, test: string]>
> = {
	"the launcher is killed": [
		"integration/killed",
		"A1 a launcher that is killed leaves no worker",
	],
	"a worker ignores SIGTERM while another fails": [
		"integration/failures",
		"a worker that ignores SIGTERM is killed after the shutdown time-out",
	],
	"a second Ctrl-C": ["integration/signals", "a second signal kills at once"],
	"exit code after SIGTERM": [
		"slow/process-1",
		"at SIGTERM ends in order with 143",
	],
	"cause of a failure": [
		"integration/failures",
		"of a Python worker that does not end is the cause",
	],
	"`MASTER_PORT` after a restart": [
		"integration/failures",
		"all start again with the same ranks",
	],
	"imports of a restarted worker": [
		"slow/warm-imports",
		"is warm by default where imports take long",
	],
	"a node is killed": [
		"integration/soft",
		"a node is killed, one joins, one stops",
	],
	"the store's host dies": [
		"slow/meeting",
		"one of three hosts is killed whole",
	],
	"a third agent of `--nnodes 2`": [
		"integration/cluster",
		"agents beyond MAX wait as spares",
	],
};

/** Whether a test has these words in its title, and nothing at its call leaves it out. */
function isPlayed(tests: string, title: string): boolean {
	const [before = "", after] = tests.split(title);
	const calls = before.match(/^\t*(?:it|test)\b.*$/gm) ?? [];
	return (
		after !== undefined &&
		!/\.(?:skip|todo|fails)\b/.test(calls.at(-1) ?? "skip")
	);
}

describe("docs/torchrun.md", () => {
	const page = read("docs/torchrun.md");
	const [, table = ""] =
		/\n## Behaviour\n([^#]+(?:#\d[^#]+)*)/.exec(page) ?? [];
	const rows = found(table, /^\| ([^|]+?) \|/gm).filter(
		(first) => !/^-*$/.test(first),
	);

	it("B7 says first that --max-restarts is 3", () => {
		const [, box = ""] = /^# .+\n\n> (.+)\n/.exec(page) ?? [];
		expect(box).toContain("`--max-restarts` is 3");
	});

	it("has a test for each row of what a run does", () => {
		expect(rows).toEqual(Object.keys(BEHAVIOUR));
		const missing = Object.values(BEHAVIOUR).filter(
			([file, title]) => !isPlayed(read(`test/${file}.test.ts`), title),
		);
		expect(missing).toEqual([]);
	});
});
