import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { packageFile } from "../../package-files.js";

/** What of the directory is the page's, and what browsers are told that it is. */
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

/** The files of the page by the path under which they are served: `index.html` as `/`, others by their names. */
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
