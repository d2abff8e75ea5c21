// Builds dist/: tsc compiles all to ESM, and declares the types of the runtime
// library once more for CommonJS. esbuild makes few files of that library, because
// every worker of a job loads it, and of the page that an agent shows to browsers.
// The library for Python is copied to dist/python/.
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
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

rmSync(`${root}/dist`, { recursive: true, force: true });
for (const project of ["tsconfig.json", "tsconfig.cjs.json"]) {
	execFileSync(process.execPath, [tsc, "-p", project], {
		cwd: root,
		stdio: "inherit",
	});
}
await bundleRuntime();
await bundlePage();
mkdirSync(`${root}/dist/python`);
copyFileSync(
	`${root}/src/runtime/python/elastic_run.py`,
	`${root}/dist/python/elastic_run.py`,
);
writeFileSync(`${root}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');
chmodSync(`${root}/dist/bin/elastic-run.js`, 0o755);

/** What a worker imports, in place of the many modules that it is written in. */
async function bundleRuntime() {
	const esm = `${root}/dist/src/runtime`;
	for (const file of readdirSync(esm)) {
		if (file.endsWith(".js")) rmSync(`${esm}/${file}`);
	}
	const options = {
		entryPoints: ["runtime", "checkpoint", "register"].map(
			(name) => `${root}/src/runtime/${name}.ts`,
		),
		outbase: `${root}/src`,
		bundle: true,
		platform: "node",
		target: "node20.19",
		logLevel: "warning",
	};
	await Promise.all([
		build({
			...options,
			format: "esm",
			outdir: `${root}/dist/src`,
			splitting: true,
			chunkNames: "runtime/shared-[hash]",
		}),
		build({ ...options, format: "cjs", outdir: `${root}/dist/cjs` }),
	]);
}

/** What a browser loads: one script and one sheet of styles, in place of what they are written in. */
async function bundlePage() {
	const source = `${root}/src/agent/http/page`;
	const outdir = `${root}/dist/src/agent/http/page`;
	await build({
		entryPoints: {
			page: `${source}/client/main.ts`,
			style: `${source}/style/style.css`,
		},
		bundle: true,
		outdir,
		format: "esm",
		target: "es2023",
		logLevel: "warning",
	});
	for (const file of ["index.html", "icon.svg"]) {
		copyFileSync(`${source}/${file}`, `${outdir}/${file}`);
	}
}
