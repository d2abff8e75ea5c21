import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import type { LaunchOptions } from "./launch.js";
import { NODE_BUNDLE, PROJECT } from "./node-bundle.js";

const BUNDLED = [
	["execa", "execa.js"],
	["etcd3", "etcd3.js"],
	["@grpc/grpc-js", "etcd3.js"],
] as const;
const BATCH = /const BATCH_SIZE = \d+;/;

/** A launcher that dies after one of its writes to the store. It writes each seat of a plan by itself. */
export class DyingLauncher {
	private constructor(private readonly directory: string) {}

	static async build(): Promise<DyingLauncher> {
		const directory = mkdtempSync(join(PROJECT, "dist/.dying-"));
		await build({
			...NODE_BUNDLE,
			entryPoints: ["bin/elastic-run.ts"],
			splitting: true,
			outdir: directory,
			plugins: [dyingStore()],
		});
		return new DyingLauncher(directory);
	}

	/** How an agent is started that dies after its n-th write. */
	after(write: number): Pick<LaunchOptions, "env" | "through"> {
		const launcher = join(this.directory, "elastic-run.js");
		const start = 'node=$1; shift 2; exec "$node" "$0" "$@"';
		return {
			env: { DIES_AFTER_WRITE: String(write) },
			through: ["/bin/sh", "-c", start, launcher],
		};
	}

	remove(): void {
		rmSync(this.directory, { recursive: true });
	}
}

function dyingStore(): Plugin {
	return {
		name: "a store that dies",
		setup({ onLoad, onResolve }) {
			onResolve({ filter: /\/open-store\.js$/ }, ({ importer }) =>
				importer.endsWith("src/launch/node-launcher.ts")
					? { path: join(PROJECT, "test/fixtures/dying-store.ts") }
					: undefined,
			);
			// They start faster there than from node_modules.
			for (const [name, file] of BUNDLED) {
				onResolve({ filter: new RegExp(`^${name}$`) }, () => ({
					path: join(PROJECT, "dist/launcher", file),
					external: true,
				}));
			}
			onLoad({ filter: /\/plan-writer\.ts$/ }, ({ path }) => {
				const source = readFileSync(path, "utf8");
				if (!BATCH.test(source)) throw new Error(`${path} has no BATCH_SIZE`);
				return {
					contents: source.replace(BATCH, "const BATCH_SIZE = 1;"),
					loader: "ts",
				};
			});
		},
	};
}
