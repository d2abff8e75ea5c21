import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ROOT } from "../helpers/import-graph.js";

interface Coverage {
	readonly result: readonly {
		readonly url: string;
		readonly functions: readonly {
			readonly functionName: string;
			readonly ranges: readonly { readonly count: number }[];
		}[];
	}[];
}

/** The files of `src` and `bin` of which a function runs while the launcher starts and ends two workers on this machine. */
export function executedFiles(): readonly string[] {
	const folder = mkdtempSync(join(tmpdir(), "house-"));
	try {
		const { status, stderr } = spawnSync(
			process.execPath,
			[
				...["--import", "tsx", "bin/elastic-run.ts"],
				...["--nproc-per-node", "2", "--log-dir", join(folder, "logs"), "true"],
			],
			{
				cwd: ROOT,
				encoding: "utf8",
				env: { ...process.env, NODE_V8_COVERAGE: folder },
			},
		);
		if (status !== 0) throw new Error(`the run of two workers: ${stderr}`);
		return filesOf(
			readdirSync(folder).filter((name) => name.endsWith(".json")),
			folder,
		);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function filesOf(reports: readonly string[], folder: string) {
	const ours = ["src/", "bin/"].map(
		(place) => pathToFileURL(join(ROOT, place)).href,
	);
	const files = new Set<string>();
	for (const report of reports) {
		const text = readFileSync(join(folder, report), "utf8");
		const { result }: Coverage = JSON.parse(text);
		for (const { url, functions } of result) {
			const isOurs = ours.some((place) => url.startsWith(place));
			const runs = functions.some(
				({ functionName, ranges: [whole] }) =>
					functionName !== "" &&
					!functionName.startsWith("__") &&
					(whole?.count ?? 0) > 0,
			);
			if (isOurs && runs) files.add(fileURLToPath(url));
		}
	}
	return [...files].sort();
}
