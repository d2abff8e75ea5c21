// Makes one file of packages that a launch needs, with the licences of all that is in it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/** What is in a file below node_modules/ belongs to the innermost package around it. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

/** CommonJS packages ask for Node's own modules so. */
const REQUIRE =
	'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);';

/**
 * Writes `<directory>/<name>.js`, and `<name>.licenses.txt` beside it.
 * @param {string} name of the file
 * @param {Record<string, string[]>} used what is used of each package
 * @param {string} directory where the files go
 * @param {import("esbuild").BuildOptions & { absWorkingDir: string }} options for all that runs on Node
 */
export async function bundlePackage(name, used, directory, options) {
	const root = options.absWorkingDir;
	const { metafile } = await build({
		...options,
		stdin: {
			contents: Object.entries(used)
				.map(([from, names]) => `export { ${names} } from "${from}";`)
				.join("\n"),
			resolveDir: root,
		},
		outfile: join(directory, `${name}.js`),
		format: "esm",
		banner: { js: REQUIRE },
		legalComments: "none",
		metafile: true,
	});
	const files = Object.values(metafile.outputs).flatMap(({ inputs }) =>
		Object.keys(inputs),
	);
	const folders = new Set(files.flatMap((file) => PACKAGE.exec(file) ?? []));
	writeFileSync(
		join(directory, `${name}.licenses.txt`),
		[...folders]
			.sort()
			.map((folder) => licenceOf(join(root, folder)))
			.join("\n"),
	);
}

function licenceOf(folder) {
	const { name, version } = JSON.parse(
		readFileSync(join(folder, "package.json"), "utf8"),
	);
	const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
	if (file === undefined) {
		throw new Error(`${name} ${version} has no licence that could be shipped`);
	}
	const text = readFileSync(join(folder, file), "utf8").trim();
	return `${name} ${version}\n\n${text}\n\n${"-".repeat(72)}\n`;
}
