import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";
import { needTorch, PYTHON } from "../helpers/torch-trainers.js";

const LIMIT_MS = 600_000;
const SOURCE = readFileSync(job("torch_hang.py"), "utf8").split("\n");

/** How rank 1 hangs, in which line of its script, and what the first line of the report says besides. */
const KINDS: readonly (readonly [how: string, line: string, words: RegExp])[] =
	[
		["spin", "    while True:", /slow: no step for \d+ s at .* in by_spin/],
		["lock", "    lock.acquire()", /hung for \d+ s at .* in by_lock/],
		["stop", "", /hung for \d+ s: stopped by SIGSTOP/],
		[
			"gil",
			"    ctypes.PyDLL(None).pthread_mutex_lock(mutex)",
			/at .* in by_gil/,
		],
		[
			"mismatch",
			"    dist.broadcast(torch.zeros(7), 0)",
			/in by_mismatch: it is in gloo:broadcast .*, others in gloo:all_reduce/,
		],
		["loader", "        batch = next(batches)", /at .* in main/],
	];

/** The numbers of the lines with this text. */
function linesWith(text: string): readonly number[] {
	return SOURCE.flatMap((line, index) => (line === text ? [index + 1] : []));
}

describe("a hang of an unmodified DDP training", () => {
	for (const [how, line, words] of KINDS) {
		it(`A5 ${how}: names the rank and its line`, {
			timeout: LIMIT_MS,
		}, async (context) => {
			needTorch(context);
			const site = openSite();
			const { exitCode, stderr } = await site.launch(
				[
					...["--nproc-per-node", "3", "--hang-timeout", "4"],
					...["--on-hang", "fail", job("torch_hang.py")],
				],
				{ env: { PYTHON_EXEC: PYTHON, HANG_HOW: how } },
			).ended;
			expect(exitCode).toBe(1);
			const root = /^root cause: .*$/m.exec(stderr)?.[0] ?? stderr;
			expect(root).toMatch(/^root cause: rank 1 on node-a/);
			expect(root).toMatch(words);
			const at = Number(/:(\d+) in /.exec(root)?.[1] ?? 0);
			// A loop stands in its line or in the next one.
			const lines = line === "" ? [0] : linesWith(line);
			expect(lines.flatMap((one) => [one, one + 1])).toContain(at);
			expect(stderr).toMatch(/ {2}ranks 0, 2 wait/);
			expect(stderr.includes("it waits for its data loader")).toBe(
				how === "loader",
			);
		});
	}
});
