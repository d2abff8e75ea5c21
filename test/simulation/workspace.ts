import { spawn } from "node:child_process";
import {
	cpSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { Mutant } from "./mutants/index.js";
import KNOWN_SEEDS from "./mutants/known-seeds.json" with { type: "json" };

const COPIED = [
	"src",
	"test/simulation",
	"test/helpers",
	"test/unit/agent",
	"test/unit/rendezvous",
	"package.json",
	"tsconfig.json",
	"vitest.config.ts",
];

/** By this many seeds each mutant that a checker catches has long been caught. */
const SEEDS = "1500";

export interface Verdict {
	readonly caught: boolean;
	readonly output: string;
}

/** A copy of the project in which guards are taken out, one at a time; the project itself is never touched. */
export class Workspace {
	private readonly directory = mkdtempSync(
		join(tmpdir(), "elastic-run-mutant-"),
	);

	constructor(project: string) {
		for (const path of COPIED) {
			const target = join(this.directory, path);
			mkdirSync(join(target, ".."), { recursive: true });
			cpSync(join(project, path), target, { recursive: true });
		}
		const packages = "node_modules";
		symlinkSync(join(project, packages), join(this.directory, packages));
	}

	/** Takes the guard out, lets its catcher run, and puts it back. */
	async try(mutant: Mutant): Promise<Verdict> {
		const path = join(this.directory, mutant.file);
		const source = readFileSync(path, "utf8");
		const [before, after, ...more] = source.split(mutant.guard);
		if (before === undefined || after === undefined || more.length > 0) {
			throw new Error(
				`"${mutant.guard}" does not stand once in ${mutant.file}`,
			);
		}
		writeFileSync(path, before + mutant.without + after);
		try {
			return await this.run(await this.argumentsFor(mutant));
		} finally {
			writeFileSync(path, source);
		}
	}

	remove(): void {
		rmSync(this.directory, { recursive: true, force: true });
	}

	private async argumentsFor({
		name,
		caughtBy,
	}: Mutant): Promise<readonly string[]> {
		if ("test" in caughtBy) {
			const { test, named } = caughtBy;
			const project = test.startsWith("test/simulation/")
				? "simulation"
				: "unit";
			return [
				...["node_modules/vitest/vitest.mjs", "run", "--project", project],
				...[test, "--testNamePattern", named],
			];
		}
		return [
			await this.bundlePlayer(),
			...["--first", String(SEED_OF.get(name) ?? 1), "--seeds", SEEDS],
			...["--checker", caughtBy.checker],
		];
	}

	/** A simulator in one file starts in a tenth of the time, and mostly its first seed is all that it plays. */
	private async bundlePlayer(): Promise<string> {
		const outfile = join(this.directory, "play.js");
		await build({
			absWorkingDir: this.directory,
			entryPoints: ["test/simulation/play.ts"],
			bundle: true,
			platform: "node",
			format: "esm",
			packages: "external",
			logLevel: "silent",
			outfile,
		});
		return outfile;
	}

	private run(args: readonly string[]): Promise<Verdict> {
		return new Promise((resolve, reject) => {
			const child = spawn(process.execPath, args, {
				cwd: this.directory,
				stdio: ["ignore", "pipe", "pipe"],
				timeout: 200_000,
				killSignal: "SIGKILL",
			});
			let output = "";
			for (const stream of [child.stdout, child.stderr]) {
				stream.setEncoding("utf8");
				stream.on("data", (text) => {
					output += text;
				});
			}
			child.on("error", reject);
			child.on("close", (code) => resolve({ caught: code === 1, output }));
		});
	}
}

/** The seed that caught a mutant when that was last learned: learn-seeds.ts. It may catch it no more. */
const SEED_OF: ReadonlyMap<string, number> = new Map(
	Object.entries(KNOWN_SEEDS),
);
