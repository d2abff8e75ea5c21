import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { packageFile } from "../base/package-files.js";

/** The directory's files that belong to the page, with their content types. */
const TYPES: Readonly<Record<string, string>> = {
	".html": "text/html; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
};

export interface PageFile {
	readonly type: string;
	readonly body: Buffer;
}

/** The page's files by the path under which they are served: `index.html` as `/`, others by their names. */
export async function readPageFiles(
	directory: string = packageFile("dist/page"),
): Promise<ReadonlyMap<string, PageFile>> {
	const files = new Map<string, PageFile>();
	for (const name of await readdir(directory)) {
		const type = TYPES[extname(name)];
		if (type === undefined) continue;
		const body = await readFile(`${directory}/${name}`);
		files.set(name === "index.html" ? "/" : `/${name}`, { type, body });
	}
	return files;
}
