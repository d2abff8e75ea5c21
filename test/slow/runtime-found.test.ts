import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runCli } from "../helpers/cli.js";
import { temporaryFolder } from "../helpers/processes.js";

/** Each says by which way it got the runtime library, and its rank. */
const SCRIPTS = {
	"esm.mjs":
		'import { getWorkerInfo } from "elastic-run/runtime"; console.log("rank", getWorkerInfo().rank);',
	"late.mjs":
		'const { getWorkerInfo } = await import("elastic-run/runtime"); console.log("rank", getWorkerInfo().rank);',
	"common.cjs":
		'console.log("rank", require("elastic-run/runtime").getWorkerInfo().rank);',
	"nested.mjs":
		'import { rank } from "./lib/nested.cjs"; console.log("rank", rank);',
};

function place() {
	const { path: cwd, remove } = temporaryFolder();
	onTestFinished(remove);
	for (const [name, text] of Object.entries(SCRIPTS)) {
		writeFileSync(join(cwd, name), text);
	}
	mkdirSync(join(cwd, "lib"));
	mkdirSync(join(cwd, "run"), { mode: 0o700 });
	writeFileSync(
		join(cwd, "lib/nested.cjs"),
		'exports.rank = require("elastic-run/runtime").getWorkerInfo().rank;',
	);
	const env = { ELASTIC_RUN_DIR: join(cwd, "run") };
	return { cwd, env };
}

it.each(
	Object.keys(SCRIPTS),
)("a worker whose project has no elastic-run finds the launcher's: %s", async (name) => {
	const site = place();
	const { exitCode, stdout, stderr } = await runCli([name], site);
	expect(exitCode, stderr).toBe(0);
	expect(stdout).toMatch(/rank 0$/m);
});

it("a project's own elastic-run comes first", async () => {
	const site = place();
	const own = join(site.cwd, "node_modules/elastic-run");
	mkdirSync(own, { recursive: true });
	writeFileSync(
		join(own, "package.json"),
		'{ "name": "elastic-run", "exports": { "./runtime": "./own.cjs", "./package.json": "./package.json" } }',
	);
	writeFileSync(
		join(own, "own.cjs"),
		'exports.getWorkerInfo = () => ({ rank: "of its own" });',
	);
	const { stdout } = await runCli(["common.cjs"], site);
	expect(stdout).toMatch(/rank of its own$/m);
});

it("a module that is missing is reported as Node reports it", async () => {
	const site = place();
	writeFileSync(join(site.cwd, "typo.mjs"), 'import "elastic-run/runtim";');
	const { exitCode, stderr } = await runCli(
		["--max-restarts", "0", "typo.mjs"],
		site,
	);
	expect(exitCode).toBe(1);
	expect(stderr).toContain("ERR_PACKAGE_PATH_NOT_EXPORTED");
});
