import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../bin/commands/command-table.js";
import { ALL_OPTIONS } from "../../src/config/options.js";
import { FOREIGN_FLAGS } from "../../src/config/torchrun-flags.js";

const PAGES = [
	"README.md",
	"CHANGELOG.md",
	"examples/README.md",
	...markdownIn("docs"),
	...markdownIn("docs/decisions"),
].filter((path) => existsSync(path));

/** A reader takes a page in at one sitting. */
const MOST_WORDS = 1200;
const INDEX = "docs/README.md";

/** Flags that the pages name and that are not the launcher's. */
const FOREIGN = [
	...[
		"--import",
		"--require",
		"--init",
		"--inspect",
		"--inspect-brk",
		"--pdeathsig",
		"--cpu-prof",
	],
	...["--lr", "--its-own-flag", "--nproc"],
	// Of the bench.
	...["--count", "--smoke"],
	// Of V8.
	...["--semi-space-growth-factor", "--max-semi-space-size"],
	...["--memory-reducer-single-gc", "--optimize-for-size"],
	...["--always-sparkplug", "--no-lazy"],
	// Of python-path and mypy.
	...["--wheel", "--strict"],
	// Of etcd, etcdctl and srun.
	...["--interactive", "--prefix"],
	...["--listen-client-urls", "--advertise-client-urls", "--name"],
	...["--listen-peer-urls", "--initial-advertise-peer-urls", "--data-dir"],
	...["--initial-cluster", "--auto-compaction-retention"],
	...["--no-kill", "--kill-on-bad-exit", "--signal", "--requeue", "--nodes"],
	"--open-mode",
	...["--ntasks", "--ip-address"],
	...["--steps", "--batch", "--checkpoint-dir", "--checkpoint-every"],
	...["--attempts", "--checkpoint", "--digits"],
	...[
		"--seeds",
		"--from",
		"--seed",
		"--checker",
		"--situations",
		"--project",
		"--quick",
		"--keep-open",
	],
];

/** Set for workers, or read beside the options. */
const OTHER_VARIABLES = [
	...["ELASTIC_RUN_CHANNEL", "ELASTIC_RUN_INSTANCE", "ELASTIC_RUN_ROUND"],
	...["ELASTIC_RUN_INCARNATION", "ELASTIC_RUN_HOOK"],
	...["ELASTIC_RUN_DIR", "ELASTIC_RUN_DEBUG"],
	...["ELASTIC_RUN_RDZV_USERNAME", "ELASTIC_RUN_RDZV_PASSWORD"],
	"ELASTIC_RUN_HTTP_TOKEN",
	"ELASTIC_RUN_AZURE_METADATA_URL",
];

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
			...Object.values(COMMANDS).flatMap(({ flags }) =>
				flags.map(({ name }) => name),
			),
			...["help", "version"],
		].map((name) => `--${name}`);
		const named = found(text, /(?<![\w-])(--[a-z][a-z0-9-]*)/g);
		expect(
			named.filter((flag) => ![...known, ...FOREIGN].includes(flag)),
		).toEqual([]);
	});

	it("names variables that are known", () => {
		const known = ALL_OPTIONS.flatMap(({ variables }) => [...variables]);
		const named = found(text, /\b(ELASTIC_RUN_[A-Z][A-Z_]*[A-Z])\b/g);
		expect(
			named.filter((name) => ![...known, ...OTHER_VARIABLES].includes(name)),
		).toEqual([]);
	});

	it("names files of the project that are there", () => {
		const named = found(
			text,
			/`((?:src|bin|test|docs|scripts|examples)\/[\w./-]+)`/g,
		);
		expect(named.filter((path) => !existsSync(path))).toEqual([]);
	});

	it("shows JSON that is JSON", () => {
		for (const json of found(text, /^```json\n(.*?)^```$/gms)) {
			expect(() => JSON.parse(json), json).not.toThrow();
		}
	});
});

it("docs/beside-torchrun.md names tests that are there", () => {
	const cells = read("docs/beside-torchrun.md")
		.split("\n")
		.filter((line) => /^\| (?!---)/.test(line))
		.map((line) => line.split(" | ").at(-1) ?? "");
	const names = found(cells.join("\n"), /`([a-z-]+)`/g);
	expect(names.length).toBeGreaterThan(5);
	for (const name of names) {
		const isThere = ["integration", "slow"].some((layer) =>
			existsSync(`test/${layer}/${name}.test.ts`),
		);
		expect(isThere, name).toBe(true);
	}
});

describe("every page is short and can be found", () => {
	const pages = ["README.md", ...markdownIn("docs")];

	it.each(pages)("%s has at most 1,200 words", (page) => {
		const words = read(page).split(/\s+/).filter(Boolean);
		expect(words.length).toBeLessThanOrEqual(MOST_WORDS);
	});

	it.each(
		pages.slice(1).filter((page) => page !== INDEX),
	)("docs/README.md links to %s", (page) => {
		expect(read(INDEX)).toContain(`](${page.replace("docs/", "")})`);
	});

	it("README.md links to docs/README.md", () => {
		expect(read("README.md")).toContain(`](${INDEX})`);
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
		found(read(path), /\b(docs\/[\w./-]+\.(?:md|svg))/g)
			.filter((page) => !existsSync(page))
			.map((page) => `${path}: ${page}`),
	);
	expect(texts.length).toBeGreaterThan(100);
	expect(missing).toEqual([]);
});

it.each([
	"demo",
	"test",
])("npm run %s builds by itself, as README says", (name) => {
	expect(read("README.md")).toMatch(
		new RegExp(`^npm ci && npm (?:run )?${name}$`, "m"),
	);
	expect(JSON.parse(read("package.json"))).toHaveProperty(
		["scripts", name],
		expect.stringMatching(/^npm run build(:js)? && /),
	);
});

describe("the pages of flags", () => {
	const pages = [
		"command-line",
		"command-line-nodes",
		"command-line-output",
		"command-line-restarts",
	];
	const text = pages.map((page) => read(`docs/${page}.md`)).join("\n");

	it.each(
		ALL_OPTIONS.map((option) => [option.name, option] as const),
	)("describes --%s with its variable, key and default", (_, option) => {
		const { name, aliases, variables, key, argument } = option;
		const isSwitch = argument === undefined;
		const row = text
			.split("\n")
			.find((line) => line.startsWith("|") && line.includes(`--${name}`));
		const expected = [
			...aliases.map((alias) => `--${alias}`),
			`\`${variables[0]}\``,
			...(key === "config" ? [] : [`\`${key}\``]),
			...("defaultText" in option && !isSwitch
				? [`| \`${option.defaultText}\` |`]
				: []),
		];
		expect(expected.filter((part) => !row?.includes(part))).toEqual([]);
	});
});
