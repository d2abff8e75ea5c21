// Compiles dist/ (ESM) and dist/cjs/ (the runtime library for CommonJS), copies
// that for Python to dist/python/, and makes the command executable.
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

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

rmSync(`${root}/dist`, { recursive: true, force: true });
for (const project of ["tsconfig.json", "tsconfig.cjs.json"]) {
	execFileSync(process.execPath, [tsc, "-p", project], {
		cwd: root,
		stdio: "inherit",
	});
}
mkdirSync(`${root}/dist/python`);
copyFileSync(
	`${root}/src/runtime/python/elastic_run.py`,
	`${root}/dist/python/elastic_run.py`,
);
writeFileSync(`${root}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');
chmodSync(`${root}/dist/bin/elastic-run.js`, 0o755);
