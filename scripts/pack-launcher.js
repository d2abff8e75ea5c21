// Packs what `pip install elastic-run` brings: the library for Python, the built launcher with the packages that it
// imports, and the command elastic-run. `npm run build:wheel [-- DIRECTORY]` writes the wheel, and prints its path.
import {
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildWheel } from "./build-wheel.js";
import { bundlePackage } from "./bundle-package.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const directory = resolve(process.argv[2] ?? "dist-wheel");

/** What the launcher imports of its packages; the others are in dist/launcher/ already. */
const USED = {
	chokidar: ["watch"],
	commander: ["Command", "CommanderError", "Option"],
	pino: ["default"],
	"prom-client": ["Counter", "Gauge", "Histogram", "Registry"],
	yaml: ["LineCounter", "parseDocument"],
};
/** What nobody needs who only runs it. */
const LEFT_OUT = /(^|\/)\.|\.d\.c?ts$|\.tsbuildinfo$|__pycache__/;

const { name, version, dependencies, exports } = JSON.parse(
	readFileSync(join(root, "package.json"), "utf8"),
);
const wanted = Object.keys(dependencies).sort().join();
if (wanted !== Object.keys(USED).join()) {
	throw new Error(`pack-launcher.js must say what is used of ${wanted}`);
}

const packages = mkdtempSync(join(tmpdir(), "elastic-run-packages-"));
try {
	await Promise.all(Object.entries(USED).map(bundle));
	const launcher = [
		["package.json", manifest({ name, version, type: "module", exports })],
		["LICENSE", readFileSync(join(root, "LICENSE"))],
		...filesIn(join(root, "dist"), "dist"),
		...filesIn(packages, "node_modules"),
	].map(([path, data]) => [`_launcher/${path}`, data]);
	const source = join(root, "src/runtime/python");
	console.log(buildWheel(source, directory, launcher));
} finally {
	rmSync(packages, { recursive: true });
}

/** Makes one file of a package and of what it needs, by which the launcher finds it under its own name. */
async function bundle([used, names]) {
	const place = join(packages, used);
	mkdirSync(place);
	await bundlePackage("index", { [used]: names }, place, {
		absWorkingDir: root,
		bundle: true,
		platform: "node",
		target: "node20.19",
		logLevel: "warning",
	});
	const about = { name: used, type: "module", exports: "./index.js" };
	writeFileSync(join(place, "package.json"), manifest(about));
}

function manifest(fields) {
	return Buffer.from(`${JSON.stringify(fields, null, "\t")}\n`);
}

/** The files below a directory, by their paths below `as`. */
function filesIn(from, as) {
	return readdirSync(from, { recursive: true })
		.filter((path) => !LEFT_OUT.test(path))
		.sort()
		.filter((path) => statSync(join(from, path)).isFile())
		.map((path) => [`${as}/${path}`, readFileSync(join(from, path))]);
}
