import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const MANIFEST = "elastic-run/package.json";

/** The path of a file or directory in the package, named from the package's root. */
export function packageFile(name: string): string {
	return join(dirname(require.resolve(MANIFEST)), name);
}

export function packageVersion(): string {
	const manifest: unknown = require(MANIFEST);
	return typeof manifest === "object" &&
		manifest !== null &&
		"version" in manifest
		? String(manifest.version)
		: "unknown";
}
