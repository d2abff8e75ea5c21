// Builds dist/: tsc declares the types, those of the runtime library once more for
// CommonJS; esbuild makes what runs, of many source files a few, because a launcher's
// start is mostly the finding of files (decisions 33 and 42): the command and the
// library, the runtime library of the workers, and the page that an agent shows to
// browsers. The library for Python is copied to dist/python/.
import { execFileSync } from "node:child_process";
import {
	chmodSync,
	copyFileSync,
	mkdirSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundlePackage } from "./bundle-package.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

const common = { absWorkingDir: root, bundle: true, logLevel: "warning" };
const forNode = { ...common, platform: "node", target: "node20.19" };

rmSync(`${root}/dist`, { recursive: true, force: true });
for (const project of ["tsconfig.types.json", "tsconfig.cjs.json"]) {
	execFileSync(process.execPath, [tsc, "-p", project], {
		cwd: root,
		stdio: "inherit",
	});
}
await Promise.all([
	bundleLauncher(),
	bundlePackage("execa", "execa", `${root}/dist/launcher`, forNode),
	bundleRuntime(),
	bundlePage(),
]);
mkdirSync(`${root}/dist/python`);
copyFileSync(
	`${root}/src/runtime/python/elastic_run.py`,
	`${root}/dist/python/elastic_run.py`,
);
writeFileSync(`${root}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');
chmodSync(`${root}/dist/bin/elastic-run.js`, 0o755);

/** The command, and what programs import as `elastic-run`: both share one copy of each class. */
async function bundleLauncher() {
	await build({
		...forNode,
		entryPoints: ["bin/elastic-run.ts", "src/index.ts"],
		outbase: ".",
		outdir: "dist",
		format: "esm",
		splitting: true,
		chunkNames: "launcher/[name]-[hash]",
		packages: "external",
		plugins: [besideTheChunks("execa")],
	});
}

/** @returns {import("esbuild").Plugin} what takes a package from its own file in `launcher/` */
function besideTheChunks(name) {
	return {
		name: `${name} beside the chunks`,
		setup({ onResolve }) {
			onResolve({ filter: new RegExp(`^${name}$`) }, () => ({
				path: `./${name}.js`,
				external: true,
			}));
		},
	};
}

/** What a worker imports. */
async function bundleRuntime() {
	const options = {
		...forNode,
		entryPoints: ["runtime", "checkpoint", "register"].map(
			(name) => `src/runtime/${name}.ts`,
		),
		outbase: "src",
	};
	await Promise.all([
		build({
			...options,
			format: "esm",
			outdir: "dist/src",
			splitting: true,
			chunkNames: "runtime/shared-[hash]",
		}),
		build({ ...options, format: "cjs", outdir: "dist/cjs" }),
	]);
}

/** What a browser loads: one script and one sheet of styles. */
async function bundlePage() {
	const source = "src/agent/http/page";
	await build({
		...common,
		entryPoints: {
			page: `${source}/client/main.ts`,
			style: `${source}/style/style.css`,
		},
		outdir: "dist/page",
		format: "esm",
		target: "es2023",
	});
	for (const file of ["index.html", "icon.svg"]) {
		copyFileSync(`${root}/${source}/${file}`, `${root}/dist/page/${file}`);
	}
}
