// The times that are promised, each beside what the bare store needs on the same machine at the same time: absolute
// times would say more of the machine than of the launcher.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const BENCH = fileURLToPath(new URL("../../bench/run.js", import.meta.url));
/** What is only disturbed by others is measured again. */
const TRIES = 3;
const LONGEST_MS = 600_000;

interface Figure {
	readonly name: string;
	readonly results: readonly [Result, Result];
}

interface Result {
	readonly launcher: string;
	readonly min: number;
}

async function measure(name: string): Promise<Figure> {
	const args = [BENCH, "--quick", "--output", "json", name];
	const env = { ...process.env, PYTHON: "no-such-python" };
	const options = { timeout: LONGEST_MS, maxBuffer: 2 ** 24, env };
	const { stdout } = await promisify(execFile)(process.execPath, args, options);
	return JSON.parse(stdout).figures[0];
}

test.each([
	["J17 a failure is known to the peers", "cluster-told", 60],
	["A2 all workers of two nodes run again", "cluster-restart", 200],
	["A9 a node that leaves is known to its peers", "cluster-left", 200],
	["T5 a node that was killed is given up", "cluster-killed-2", 1.5],
])(
	"%s: %s takes at most %d times what the bare store does",
	{
		timeout: LONGEST_MS,
	},
	async (_, name, most) => {
		const ratios: number[] = [];
		while (ratios.length < TRIES && !ratios.some((ratio) => ratio <= most)) {
			const { results } = await measure(name);
			const [own, store] = results;
			const ratio = own.min / store.min;
			ratios.push(ratio);
			console.log(
				`| ${name} | ${own.min.toFixed(1)} ms | ${store.launcher}: ${store.min.toFixed(1)} ms | ${ratio.toFixed(2)} × | at most ${most} × |`,
			);
		}
		expect(Math.min(...ratios)).toBeLessThanOrEqual(most);
	},
);
