// Packs the package as it would be published, and looks at it as its users would:
// publint and are-the-types-wrong on the tarball, and the list of what is in it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const EXPECTED =
	/^(dist\/(bin|launcher|page|src|cjs)\/|dist\/python\/elastic_run\/([a-z_]+\/)*\w+\.py$|dist\/python-hook\/(sitecustomize|_elastic_run_(exceptions|frameworks|hook|notes|torch|warm(_(environment|imports|learned|parked|traces|trials|worker))?))\.py$|dist\/reaper\/reaper\.(py|pl)$|dist\/python-wheel\/elastic_run-[^/]+-py3-none-any\.whl$|(docs|examples)\/[^_]|scripts\/find-etcd\.js$|README\.md$|LICENSE$|CHANGELOG\.md$|package\.json$)/;
const NEEDED = [
	"dist/bin/elastic-run.js",
	"dist/launcher/execa.js",
	"dist/launcher/execa.licenses.txt",
	"dist/launcher/etcd3.js",
	"dist/launcher/etcd3.licenses.txt",
	"dist/src/index.js",
	"dist/src/index.d.ts",
	"dist/src/runtime/register.js",
	"dist/src/runtime/find-package.js",
	"dist/src/runtime/find-package-hooks.js",
	"dist/cjs/package.json",
	"dist/cjs/runtime/runtime.js",
	"dist/cjs/checkpoint/index.js",
	"dist/cjs/runtime/hook.js",
	"dist/python/elastic_run/__init__.py",
	"dist/python/elastic_run/integrations/lightning.py",
	"dist/python/elastic_run/integrations/transformers.py",
	"dist/python-hook/sitecustomize.py",
	"dist/python-hook/_elastic_run_exceptions.py",
	"dist/python-hook/_elastic_run_frameworks.py",
	"dist/python-hook/_elastic_run_hook.py",
	"dist/python-hook/_elastic_run_notes.py",
	"dist/python-hook/_elastic_run_torch.py",
	"dist/python-hook/_elastic_run_warm.py",
	"dist/python-hook/_elastic_run_warm_environment.py",
	"dist/python-hook/_elastic_run_warm_imports.py",
	"dist/python-hook/_elastic_run_warm_learned.py",
	"dist/python-hook/_elastic_run_warm_parked.py",
	"dist/python-hook/_elastic_run_warm_traces.py",
	"dist/python-hook/_elastic_run_warm_trials.py",
	"dist/python-hook/_elastic_run_warm_worker.py",
	"dist/reaper/reaper.py",
	"dist/reaper/reaper.pl",
	"dist/page/index.html",
	"dist/page/page.js",
	"dist/page/style.css",
	"dist/page/preact.license.txt",
	"examples/digits.gz",
	"scripts/find-etcd.js",
	"README.md",
	"LICENSE",
	"CHANGELOG.md",
];

const folder = mkdtempSync(join(tmpdir(), "elastic-run-pack-"));
try {
	const packed = JSON.parse(
		run("npm", [
			"pack",
			"--json",
			"--ignore-scripts",
			"--pack-destination",
			folder,
		]),
	);
	const [{ filename, files, size }] = packed;
	checkFiles(files.map(({ path }) => path));
	const tarball = join(folder, filename);
	show("npx", ["publint", "run", tarball, "--strict"]);
	// The main entry is for ESM; Node's resolution of before 12 does not know "exports".
	show("npx", [
		"attw",
		tarball,
		"--profile",
		"node16",
		"--ignore-rules",
		"cjs-resolves-to-esm",
	]);
	console.log(
		`${filename}: ${files.length} files, ${Math.round(size / 1024)} KiB packed`,
	);
} finally {
	rmSync(folder, { recursive: true, force: true });
}

/** Returns what the command prints. */
function run(command, args) {
	return execFileSync(command, args, { cwd: root, encoding: "utf8" });
}

function show(command, args) {
	execFileSync(command, args, { cwd: root, stdio: "inherit" });
}

function checkFiles(paths) {
	const missing = NEEDED.filter((path) => !paths.includes(path));
	if (!paths.some((path) => path.endsWith(".whl"))) missing.push("a wheel");
	const strange = paths.filter((path) => !EXPECTED.test(path));
	if (missing.length === 0 && strange.length === 0) return;
	throw new Error(
		`the package lacks [${missing.join(", ")}] and should not hold [${strange.join(", ")}]`,
	);
}
