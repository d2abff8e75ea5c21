// Builds dist/: tsc declares the types, those of the runtime library once more for
// CommonJS (with --no-types not, which takes a tenth of the time); esbuild makes what
// runs, of many source files a few, because a launcher's start is mostly the finding of
// files: the command and the library, the runtime library of the
// workers, and the page that an agent shows to browsers. The library for Python is
// copied to dist/python/ and packed as a wheel, its hook to dist/python-hook/.
import { execFileSync } from "node:child_process";
import {
	chmodSync,
	copyFileSync,
	mkdirSync,
	readdirSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildWheel, modulesOf } from "./build-wheel.js";
import { bundleEtcd } from "./bundle-etcd.js";
import { bundlePackage } from "./bundle-package.js";
import { throughDoors } from "./through-doors.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

const common = { absWorkingDir: root, bundle: true, logLevel: "warning" };
const forNode = { ...common, platform: "node", target: "node20.19" };

rmSync(`${root}/dist`, { recursive: true, force: true });
const typed = process.argv.includes("--no-types")
	? []
	: ["tsconfig.types.json", "tsconfig.cjs.json"];
for (const project of typed) {
	execFileSync(process.execPath, [tsc, "-p", project], {
		cwd: root,
		stdio: "inherit",
	});
}
await Promise.all([
	bundleLauncher(),
	bundlePackage(
		"execa",
		{ execa: ["execa"] },
		`${root}/dist/launcher`,
		forNode,
	),
	bundleEtcd(`${root}/dist/launcher`, forNode),
	bundleRuntime(),
	bundlePage(),
]);
for (const file of modulesOf(`${root}/src/runtime/python`, "elastic_run")) {
	copyPython(file, `python/${dirname(file)}`);
}
const hook = readdirSync(`${root}/src/runtime/python/hook`);
for (const file of hook.filter((name) => name.endsWith(".py"))) {
	copyPython(`hook/${file}`, "python-hook");
}
for (const file of ["reaper.py", "reaper.pl"]) {
	copy(`src/processes/reaper/${file}`, "reaper");
}
buildWheel(`${root}/src/runtime/python`, `${root}/dist/python-wheel`);
writeFileSync(`${root}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');
chmodSync(`${root}/dist/bin/elastic-run.js`, 0o755);

/** The command, and what programs import as `elastic-run`: both share one copy of each class. */
async function bundleLauncher() {
	await build({
		...forNode,
		entryPoints: [
			"bin/elastic-run.ts",
			"src/index.ts",
			"src/hosting/keeper-process.ts",
		],
		outbase: ".",
		outdir: "dist",
		format: "esm",
		splitting: true,
		chunkNames: "launcher/[name]-[hash]",
		packages: "external",
		plugins: [
			throughDoors,
			besideTheChunks("execa", "execa"),
			besideTheChunks("etcd3", "etcd3"),
			besideTheChunks("@grpc/grpc-js", "etcd3"),
		],
	});
}

/** @returns {import("esbuild").Plugin} what takes a package from a file in `launcher/` */
function besideTheChunks(name, file) {
	return {
		name: `${name} beside the chunks`,
		setup({ onResolve }) {
			onResolve({ filter: new RegExp(`^${name}$`) }, () => ({
				path: `./${file}.js`,
				external: true,
			}));
		},
	};
}

function copyPython(file, directory) {
	copy(`src/runtime/python/${file}`, directory);
}

function copy(file, directory) {
	mkdirSync(`${root}/dist/${directory}`, { recursive: true });
	copyFileSync(
		`${root}/${file}`,
		`${root}/dist/${directory}/${basename(file)}`,
	);
}

/**
 * What a worker imports; the hooks by which it finds that are ESM alone, and what is loaded before its script is
 * CommonJS alone.
 */
async function bundleRuntime() {
	const sources = (names) => names.map((name) => `src/${name}.ts`);
	const define = { HOOK_THREAD: JSON.stringify(await hookThread()) };
	const options = {
		...forNode,
		outbase: "src",
		define,
		plugins: [throughDoors],
	};
	const library = ["runtime/runtime", "checkpoint/index", "runtime/register"];
	await Promise.all([
		build({
			...options,
			entryPoints: sources([
				...library,
				"runtime/find-package",
				"runtime/find-package-hooks",
			]),
			format: "esm",
			outdir: "dist/src",
			splitting: true,
			chunkNames: "runtime/shared-[hash]",
		}),
		build({
			...options,
			entryPoints: sources([...library, "runtime/hook"]),
			format: "cjs",
			outdir: "dist/cjs",
		}),
	]);
}

/** The program of the hook's thread, as text. */
async function hookThread() {
	const { outputFiles } = await build({
		...forNode,
		entryPoints: ["src/runtime/node-hook/hook-thread.ts"],
		format: "cjs",
		minify: true,
		write: false,
	});
	return outputFiles[0].text;
}

/** What a browser loads: one script and one sheet of styles. */
async function bundlePage() {
	const source = "src/http/page";
	await build({
		...common,
		plugins: [throughDoors],
		entryPoints: {
			page: `${source}/main.tsx`,
			style: `${source}/style.css`,
		},
		outdir: "dist/page",
		format: "esm",
		target: "es2023",
	});
	for (const file of ["index.html", "icon.svg"]) {
		copyFileSync(`${root}/${source}/${file}`, `${root}/dist/page/${file}`);
	}
	copyFileSync(
		`${root}/node_modules/preact/LICENSE`,
		`${root}/dist/page/preact.license.txt`,
	);
}
