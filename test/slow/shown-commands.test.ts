import { execFile, spawnSync } from "node:child_process";
import {
	chmodSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it, type TestContext } from "vitest";
import { CLI } from "../helpers/cli.js";
import { cliHost } from "../helpers/cli-host.js";
import { needEtcd } from "../helpers/etcd.js";
import { freePort } from "../helpers/free-port.js";
import { ROOT } from "../helpers/import-graph.js";
import { temporaryFolder } from "../helpers/processes.js";

const run = promisify(execFile);
const { path: folder, remove } = temporaryFolder();
afterAll(remove);
const runLine = cliHost();

const LIMIT_MS = 120_000;
const SELF = `"${process.execPath}" "${CLI}"`;
const PAGES = [
	"README.md",
	...readdirSync("docs")
		.filter((name) => name.endsWith(".md"))
		.map((name) => `docs/${name}`),
];

/** What a page shows as code, its continued lines joined. */
function blocksOf(page: string): readonly string[] {
	const text = readFileSync(page, "utf8").replaceAll(/ *\\\n\s*/g, " ");
	return [...text.matchAll(/^```\w*\n(.*?)^```$/gms)].map(
		([, block]) => block ?? "",
	);
}

/** The launches of all pages; … and [ ] stand for what a reader fills in. */
const launches = PAGES.flatMap((page) =>
	blocksOf(page)
		.flatMap((block) => block.split("\n"))
		.map((line) => line.replace(/^npx /, ""))
		.filter((line) => /^elastic-run -[^…[\]]*$/.test(line))
		.map((line) => [page, line] as const),
);

/** Runs shell words with nothing of this process but PATH; resolves if they end with 0. */
function shell(words: string, cwd: string, path = process.env.PATH) {
	return run("/bin/sh", ["-c", words], {
		cwd,
		env: {
			PATH: path,
			HOME: folder,
			XDG_STATE_HOME: "/dev/null",
			ELASTIC_RUN_DIR: folder,
		},
	});
}

function needPython(context: TestContext): void {
	if (spawnSync("python3", ["--version"]).status !== 0) {
		context.skip("there is no python3");
	}
}

/** A folder with the programs and files that the pages name. */
function readersFolder(): string {
	const project = join(folder, "project");
	mkdirSync(join(project, "node_modules"), { recursive: true });
	symlinkSync(ROOT, join(project, "node_modules/elastic-run"));
	symlinkSync(join(ROOT, "examples"), join(project, "examples"));
	for (const name of ["train.js", "train.py", "read.py", "my-program"]) {
		writeFileSync(join(project, name), "#!/bin/sh\n");
		chmodSync(join(project, name), 0o755);
	}
	for (const name of ["token", "train.password"]) {
		const secret = "a-secret-of-enough-characters\n";
		writeFileSync(join(project, name), secret, { mode: 0o600 });
	}
	return project;
}

describe("a launch that a page shows is accepted", () => {
	const project = readersFolder();

	it("there are some, README's too", () => {
		expect(launches.filter(([page]) => page === "README.md").length).toBe(9);
		expect(launches.length).toBeGreaterThan(12);
	});

	it.for(launches)("%s: %s", async ([, line], context) => {
		if (line.includes(".py")) needPython(context);
		// This machine may have no GPU.
		const words = line.replace("--nproc-per-node gpu", "--nproc-per-node 1");
		const typed = await shell(
			words.replace("elastic-run", "printf '%s\\0'"),
			project,
		);
		const args = typed.stdout.split("\0").slice(0, -1);
		const { stdout, stderr, exitCode } = await runLine(
			["--dry-run", "--log-dir", "logs", ...args],
			{ cwd: project, env: { HOME: folder, ELASTIC_RUN_DIR: folder } },
		);
		expect(exitCode, stderr).toBe(0);
		expect(stdout).toContain("worker");
	});
});

describe("README's first lines run as they stand", () => {
	const readme = blocksOf("README.md").join("\n");

	it(
		"two workers in Python",
		async (context) => {
			needPython(context);
			const line = /^npx (elastic-run --standalone .*hello\.py)$/m.exec(readme);
			const words = line?.[1] ?? "";
			const { stdout } = await shell(words.replace("elastic-run", SELF), ROOT);
			expect(stdout.match(/hello from rank [01] of 2/g)).toHaveLength(2);
		},
		LIMIT_MS,
	);

	it(
		"two nodes on one machine, which start an etcd",
		async (context) => {
			needEtcd();
			needPython(context);
			const loop = /^for node in .*$/m.exec(readme)?.[0] ?? "";
			const words = loop
				.replace("npx elastic-run", SELF)
				.replace("29400", String(await freePort()));
			const { stdout, stderr } = await shell(words, ROOT);
			expect(stdout.match(/hello from rank [0-3] of 4/g)).toHaveLength(4);
			expect(stderr.match(/^run 100 succeeded/gm)).toHaveLength(2);
		},
		LIMIT_MS,
	);
});

it(
	"it needs no Python: a worker runs where Node and the shell are all there is",
	async () => {
		const programs = join(folder, "programs");
		mkdirSync(programs);
		symlinkSync(process.execPath, join(programs, "node"));
		symlinkSync("/bin/sh", join(programs, "sh"));
		const words = `${SELF} --nproc-per-node 2 examples/hello.js`;
		const { stdout } = await shell(words, ROOT, programs);
		expect(stdout.match(/hello from rank [01] of 2/g)).toHaveLength(2);
	},
	LIMIT_MS,
);
